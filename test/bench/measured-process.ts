import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Usage } from './report-usage.ts';

export interface Measured {
  /** Wall time from before the process is started until it has ended. */
  seconds: number;
  /** Processor time of all its threads: what other programs on the machine disturb least. */
  cpuSeconds: number;
  /** Largest resident set. */
  peakBytes: number;
  output: string;
  logs: string;
}

/**
 * Runs a TypeScript program of the repository as a process of its own. Throws with the end of its logs when it fails.
 */
export async function measureProcess(
  program: URL,
  words: readonly string[],
  { environment = {}, signal }: { environment?: Record<string, string>; signal: AbortSignal },
): Promise<Measured> {
  signal.throwIfAborted();
  const reportUsage = new URL('./report-usage.ts', import.meta.url).href;
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', reportUsage, fileURLToPath(program), ...words], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    signal,
  });
  const texts = Promise.all(child.stdio.slice(1).map((stream) => text(stream as Readable)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const seconds = (performance.now() - started) / 1000;
  const [output = '', logs = '', usage = ''] = await texts;
  if (code !== 0)
    throw new Error(`${fileURLToPath(program)} ${words.join(' ')} exited with ${code}:\n${logs.slice(-2000)}`);
  const { cpuMicroseconds, peakBytes } = JSON.parse(usage) as Usage;
  return { seconds, cpuSeconds: cpuMicroseconds / 1e6, peakBytes, output, logs };
}
