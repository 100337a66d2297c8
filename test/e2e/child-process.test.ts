import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { startChildCommand, type ListeningChild } from '../../src/cli/child-process.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import { slow } from '../support/slow.ts';

it('a killed console starts again at the same address, and its new link is printed', slow, async ({ skip }) => {
  skip(process.platform !== 'linux', 'the processes that were started are found by /proc');
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const { promise: again, resolve } = Promise.withResolvers<ListeningChild>();
  const told: string[] = [];
  const logger = createLogger({ write: (line: string) => told.push(line) > 0 }, 'error');
  const companion = await startChildCommand('console', logger, 0, { OFFERLINE_DATA: data.root }, resolve);
  onTestFinished(() => companion.stop());
  process.kill(consoleOf(process.pid), 'SIGKILL');
  const { address, link } = await again;
  expect(told.join('')).toContain('`offerline console` has ended and is started again');
  expect(address).toBe(companion.address);
  expect(link).not.toBe(companion.link);
  const entered = await fetch(link as string, { redirect: 'manual' });
  expect(entered.status).toBeLessThan(400);
});

/** The process of the console that a process has started. */
function consoleOf(starter: number): number {
  const children = readFileSync(`/proc/${starter}/task/${starter}/children`, 'utf8').trim().split(' ').map(Number);
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('\0console\0'));
  if (found === undefined) throw new Error('no console was started');
  return found;
}
