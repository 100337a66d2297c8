import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { findJava, installedPyspark, MissingProgram } from './cluster/pyspark.ts';

/** `npm run test:spark -- [vitest's parameters]`: the tests that need a real Spark, on one that it starts. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const tell = (line: string) => void process.stderr.write(`${line}\n`);

try {
  findJava();
  const { python, home } = installedPyspark(tell);
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
  const conf = fileURLToPath(new URL('cluster/conf', import.meta.url));
  const tests = spawn(
    process.execPath,
    [vitest, 'run', '--config', 'test/spark/vitest.config.ts', ...process.argv.slice(2)],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        SPARK_LOCAL_IP: '127.0.0.1',
        SPARK_CONF_DIR: conf,
        OFFERLINE_TEST_SPARK: JSON.stringify({ python, home }),
      },
    },
  );
  // The runner ends by these signals, too, and with it the cluster.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const [code] = (await once(tests, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} catch (error) {
  if (!(error instanceof MissingProgram)) throw error;
  tell(`the Spark tests cannot run: ${error.message}`);
  process.exitCode = 1;
}
