import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export const commandLine = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** How every process of the tests is started: the Node that runs them, without its word about types. */
export const nodeArguments = ['--disable-warning=ExperimentalWarning'];

/** As the console starts the commands of its actions. */
export const launcher = { executable: process.execPath, words: [...nodeArguments, commandLine] };

/** Runs a command as a process of its own over a data directory, to its end. */
export function offerline(dataFolder: string, ...words: string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(launcher.executable, [...launcher.words, ...words], {
      env: { ...process.env, OFFERLINE_DATA: dataFolder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended: Ended = { code: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...ended, code }));
  });
}
