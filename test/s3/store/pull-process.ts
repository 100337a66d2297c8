import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '../../support/command-line.ts';
import type { ChildPull, ChildPulled } from './pull-child.ts';

const child = fileURLToPath(new URL('pull-child.ts', import.meta.url));

/** A pull in a process of its own. */
export function startPull(request: ChildPull): ChildProcess {
  return spawn(process.execPath, [...nodeArguments, child, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** One to its end; undefined where it was killed. */
export async function pullInProcess(request: ChildPull): Promise<ChildPulled | undefined> {
  const running = startPull(request);
  const said = text(running.stdout as NodeJS.ReadableStream);
  const [, signal] = (await once(running, 'exit')) as [number | null, string | null];
  return signal === null ? (JSON.parse(await said) as ChildPulled) : undefined;
}
