import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MissingProgram } from './python-environment.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));

/**
 * Runs the tests of a folder below `test`, with the parameters of this process, once `prepare` has found or installed
 * what they need and given their environment. Says what is missing, as in "the S3 tests cannot run", and fails.
 */
export async function runServiceTests(
  folder: string,
  tests: string,
  prepare: (tell: (line: string) => void) => NodeJS.ProcessEnv,
): Promise<void> {
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    const environment = prepare(tell);
    const parameters = ['run', '--config', `test/${folder}/vitest.config.ts`, ...process.argv.slice(2)];
    const running = spawn(process.execPath, [vitest, ...parameters], {
      cwd: root,
      stdio: 'inherit',
      // Python keeps what it compiles as it is imported.
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '', ...environment },
    });
    // The runner ends by these signals, too, and with it the services.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
    const [code] = (await once(running, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } catch (error) {
    if (!(error instanceof MissingProgram)) throw error;
    tell(`${tests} cannot run: ${error.message}`);
    process.exitCode = 1;
  }
}
