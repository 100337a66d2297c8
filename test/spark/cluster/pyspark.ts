import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The one version that is tried; it brings Spark's own jars. */
export const pysparkVersion = '4.1.4';
const oldestJava = 17;
const oldestPython = [3, 10] as const;

/** What is missing on this machine, and how to get it. */
export class MissingProgram extends Error {}

export interface PySpark {
  /** The Python that has `pyspark`. */
  python: string;
  /** Spark's home: `bin`, `sbin`, `jars`. */
  home: string;
}

/** Throws `MissingProgram` where there is no Java that Spark runs on. */
export function findJava(environment: NodeJS.ProcessEnv = process.env): string {
  const java = environment['JAVA_HOME'] ? join(environment['JAVA_HOME'], 'bin', 'java') : 'java';
  const told = spawnSync(java, ['-version'], { encoding: 'utf8' });
  const version = /version "(\d+)/.exec(told.stderr ?? '')?.[1];
  if (told.status !== 0 || version === undefined)
    throw new MissingProgram(
      `there is no Java: \`${java}\` does not run. Spark needs Java ${oldestJava} or newer; on Debian: apt-get install openjdk-17-jre-headless`,
    );
  if (Number(version) < oldestJava)
    throw new MissingProgram(
      `\`${java}\` is Java ${version}; Spark needs ${oldestJava} or newer. Point JAVA_HOME at one`,
    );
  return java;
}

/**
 * A virtual environment with this one version of `pyspark`, made where there is none yet: 455 MB from the package index
 * that pip is set up for. Throws `MissingProgram`.
 */
export function installedPyspark(tell: (line: string) => void): PySpark {
  const cache = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));
  const folder = join(cache, `pyspark-${pysparkVersion}`);
  const done = join(folder, 'installed');
  const python = join(folder, 'bin', 'python');
  if (!existsSync(done)) {
    assertPython();
    tell(`installing pyspark ${pysparkVersion} into ${folder}: 455 MB, some minutes, once`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(cache, { recursive: true });
    run('python3', ['-m', 'venv', folder], 'on Debian: apt-get install python3-venv');
    run(python, ['-m', 'pip', 'install', '--quiet', `pyspark==${pysparkVersion}`], 'the package index must be reached');
    // Written last, and by a rename: half an installation has no such file.
    writeFileSync(`${done}.tmp`, `${pysparkVersion}\n`);
    renameSync(`${done}.tmp`, done);
  }
  const home = run(python, ['-c', 'import os, pyspark; print(os.path.dirname(pyspark.__file__))'], `remove ${folder}`);
  return { python, home: home.trim() };
}

function assertPython(): void {
  const told = spawnSync('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' });
  const [major = 0, minor = 0] = (told.stdout ?? '').trim().split(' ').map(Number);
  const [needed, atLeast] = oldestPython;
  if (told.status !== 0 || major !== needed || minor < atLeast)
    throw new MissingProgram(
      `there is no Python ${oldestPython.join('.')} or newer as \`python3\`, which installs and drives Spark; on Debian: apt-get install python3-venv`,
    );
}

function run(program: string, parameters: string[], advice: string): string {
  const options: SpawnSyncOptions = { stdio: ['ignore', 'pipe', 'pipe'] };
  const { status, stdout, stderr, error } = spawnSync(program, parameters, options);
  if (status === 0) return String(stdout);
  const told = error?.message ?? String(stderr).trim().split('\n').at(-1) ?? '';
  throw new MissingProgram(`${program} ${parameters.join(' ')} failed: ${told}; ${advice}`);
}
