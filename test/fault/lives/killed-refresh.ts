import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '../../support/command-line.ts';
import type { ChildRefresh } from './refresh-child.ts';

const child = fileURLToPath(new URL('./refresh-child.ts', import.meta.url));

/**
 * A refresh in a process of its own that kills itself where asked to, or is killed so many milliseconds after its
 * begin.
 */
export async function killedRefresh(
  request: ChildRefresh,
  afterMilliseconds?: number,
): Promise<{ code: number | null; signal: string | null; told: string }> {
  const running = spawn(process.execPath, [...nodeArguments, child, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let told = '';
  running.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const ended = once(running, 'exit') as Promise<[code: number | null, signal: string | null]>;
  if (afterMilliseconds !== undefined) {
    await Promise.race([once(running.stdout, 'data'), ended]);
    await Promise.race([setTimeout(afterMilliseconds), ended]);
    running.kill('SIGKILL');
  }
  const [code, signal] = await ended;
  return { code, signal, told };
}
