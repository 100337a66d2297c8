import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const oldestPython = [3, 10] as const;

const needsIndex = 'the package index must be reached';

/** What is missing on this machine, and how to get it. */
export class MissingProgram extends Error {}

/** A package of the Python package index, in the one version that is tried. */
export interface PythonPackage {
  name: string;
  version: string;
  /** With parts of it that are asked for, such as `moto[server]`; its name where none are. */
  asked?: string;
  /** Further packages with their versions, such as `duckdb==1.5.5`. */
  beside?: readonly string[];
  /** Such as `455 MB`. */
  size: string;
}

/**
 * The Python of a virtual environment that has this package, made where there is none yet, from the package index that
 * pip is set up for. Throws `MissingProgram`.
 */
export function pythonWith(
  { name, version, asked = name, beside = [], size }: PythonPackage,
  tell: (line: string) => void,
): { python: string; folder: string } {
  const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
  const folder = join(cache, `${name}-${version}`);
  const done = join(folder, 'installed');
  const python = join(folder, 'bin', 'python');
  if (existsSync(done)) return { python, folder };
  assertPython();
  tell(`installing ${name} ${version} into ${folder}: ${size}, some minutes, once`);
  // Two checks that go side by side may install the same one: each makes a folder of its own, and the first to be done
  // gives it the name. Programs of a virtual environment name their folder; the interpreter does not, and only it is run.
  const own = `${folder}.${process.pid}`;
  try {
    mkdirSync(cache, { recursive: true });
    runProgram('python3', ['-m', 'venv', own], 'on Debian: apt-get install python3-venv');
    const packages = [`${asked}==${version}`, ...beside];
    // To compile all that is installed takes as long again; most of it is never imported.
    const install = ['-m', 'pip', 'install', '--quiet', '--no-compile', ...packages];
    runProgram(join(own, 'bin', 'python'), install, needsIndex);
    writeFileSync(join(own, 'installed'), `${version}\n`);
    if (!existsSync(done)) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(own, folder);
    }
  } catch (error) {
    if (!existsSync(done)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  return { python, folder };
}

function assertPython(): void {
  const told = spawnSync('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' });
  const [major = 0, minor = 0] = (told.stdout ?? '').trim().split(' ').map(Number);
  const [needed, atLeast] = oldestPython;
  if (told.status !== 0 || major !== needed || minor < atLeast)
    throw new MissingProgram(
      `there is no Python ${oldestPython.join('.')} or newer as \`python3\`; on Debian: apt-get install python3-venv`,
    );
}

/** What a program prints. Throws `MissingProgram` with the advice where it fails. */
export function runProgram(program: string, parameters: string[], advice: string): string {
  const options: SpawnSyncOptions = { stdio: ['ignore', 'pipe', 'pipe'] };
  const { status, stdout, stderr, error } = spawnSync(program, parameters, options);
  if (status === 0) return String(stdout);
  const told = error?.message ?? String(stderr).trim().split('\n').at(-1) ?? '';
  throw new MissingProgram(`${program} ${parameters.join(' ')} failed: ${told}; ${advice}`);
}
