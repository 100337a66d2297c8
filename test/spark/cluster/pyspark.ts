import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { MissingProgram, pythonWith, runProgram } from '../../support/python-environment.ts';

/** The one version that is tried; it brings Spark's own jars. */
export const pysparkVersion = '4.1.4';
const oldestJava = 17;

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

/** PySpark in a virtual environment, which is made where there is none yet. Throws `MissingProgram`. */
export function installedPyspark(tell: (line: string) => void): PySpark {
  // With what Spark Connect needs.
  const asked = 'pyspark[connect]';
  const pyspark = { name: 'pyspark-connect', asked, version: pysparkVersion, size: '520 MB' };
  const { python, folder } = pythonWith(pyspark, tell);
  const advice = `remove ${folder}`;
  const home = runProgram(python, ['-c', 'import os, pyspark; print(os.path.dirname(pyspark.__file__))'], advice);
  return { python, home: home.trim() };
}
