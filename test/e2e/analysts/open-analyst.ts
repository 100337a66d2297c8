import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { nodeArguments } from '../../support/command-line.ts';

/** A process of its own that holds a snapshot's database open. */
export interface Analyst {
  /** A digest of everything that the database says. */
  ask(): Promise<string>;
  close(): Promise<void>;
}

export async function openAnalyst(database: string): Promise<Analyst> {
  const child = spawn(
    process.execPath,
    [...nodeArguments, fileURLToPath(new URL('analyst.ts', import.meta.url)), database],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error("the analyst's process ended before it answered");
    return value;
  };
  expect(await next()).toBe('ready');
  return {
    ask: () => {
      child.stdin.write('ask\n');
      return next();
    },
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      expect((await ended)[0]).toBe(0);
    },
  };
}
