import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** Returns its version, such as `17.0.15`. Throws `MissingProgram` where there is no Java that Spark runs on. */
export function findJava(environment: NodeJS.ProcessEnv = process.env): string {
  const java = environment['JAVA_HOME'] ? join(environment['JAVA_HOME'], 'bin', 'java') : 'java';
  const told = spawnSync(java, ['-version'], { encoding: 'utf8' });
  const version = /version "([\w.+-]+)"/.exec(told.stderr ?? '')?.[1];
  if (told.status !== 0 || version === undefined)
    throw new MissingProgram(
      `there is no Java: \`${java}\` does not run. Spark needs Java ${oldestJava} or newer; on Debian: apt-get install openjdk-17-jre-headless`,
    );
  if (Number.parseInt(version, 10) < oldestJava)
    throw new MissingProgram(
      `\`${java}\` is Java ${version}; Spark needs ${oldestJava} or newer. Point JAVA_HOME at one`,
    );
  return version;
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

/** Jobs of tests are small and many: what pays over hours, or is for people to read, only costs here. */
export const javaOptions = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';
const sparkSettings = {
  'spark.sql.shuffle.partitions': '4',
  'spark.sql.debug.maxToStringFields': '1',
  'spark.sql.maxPlanStringLength': '0',
};

/** What the environment of a cluster and of its drivers says, so that they start with less work. */
export function quickStart(spark: PySpark, javaVersion: string, tell: (line: string) => void): NodeJS.ProcessEnv {
  const folder = join(spark.home, 'classes');
  // Java takes an archive for classes of the same jars, and of no folder with anything in it.
  const noConfiguration = join(folder, 'no-configuration');
  mkdirSync(noConfiguration, { recursive: true });
  const environment = { SPARK_LOCAL_IP: '127.0.0.1', SPARK_CONF_DIR: noConfiguration };
  const archive = join(folder, `${javaVersion}.jsa`);
  if (!existsSync(archive)) {
    tell(`archiving the classes of Spark for Java ${javaVersion}: a quarter of a minute, once`);
    archiveClasses(spark, archive, environment);
    if (!existsSync(archive)) tell('they could not be archived; each JVM loads its classes by itself');
  }
  // Java warns on standard output where it cannot use the archive; what Spark prints there is read.
  const options = existsSync(archive)
    ? `${javaOptions} '-XX:SharedArchiveFile=${archive}' -Xlog:disable -Xlog:all=error:stderr`
    : javaOptions;
  const settings = Object.entries({ ...sparkSettings, 'spark.executor.extraJavaOptions': options });
  return {
    ...environment,
    SPARK_SUBMIT_OPTS: [options, ...settings.map(([key, value]) => `"-D${key}=${value}"`)].join(' '),
    SPARK_DAEMON_JAVA_OPTS: options,
  };
}

/** Archives the classes that a job loads, whole or not at all. */
function archiveClasses({ python }: PySpark, archive: string, environment: NodeJS.ProcessEnv): void {
  const own = mkdtempSync(join(dirname(archive), 'made-'));
  try {
    const made = join(own, 'made.jsa');
    spawnSync(python, [fileURLToPath(new URL('load-classes.py', import.meta.url)), own], {
      // The JVM that makes it lives a little longer than Python; what it writes to is closed after it.
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment, SPARK_SUBMIT_OPTS: `${javaOptions} '-XX:ArchiveClassesAtExit=${made}'` },
    });
    if (existsSync(made)) renameSync(made, archive);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
