import { expect, it } from 'vitest';
import { openWhenWritable } from '../../../src/cli/schedule/deferred-schedule.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';

const readOnly = Object.assign(new Error("EROFS: read-only file system, access 'schedule.lock'"), { code: 'EROFS' });

function openingAfter(refusals: number) {
  const test = { tries: 0, stopped: 0, logged: '' };
  const open = async () => {
    if (++test.tries <= refusals) throw readOnly;
    return { caughtUp: Promise.resolve(), stop: async () => void test.stopped++ };
  };
  return { test, open, logger: createLogger({ write: (line) => (test.logged += line) }) };
}

it('the schedule of start begins once the disk can be written, and keeps nothing waiting until then', async () => {
  const { test, open, logger } = openingAfter(2);
  const waits: (() => void)[] = [];
  const wait = () => new Promise<void>((resolve) => waits.push(resolve));
  const schedule = await openWhenWritable(open, logger, wait);
  await schedule.caughtUp;
  expect([test.tries, waits.length]).toEqual([1, 1]);
  waits[0]?.();
  await expect.poll(() => waits.length, { interval: 1 }).toBe(2);
  waits[1]?.();
  await expect.poll(() => test.logged, { interval: 1 }).toContain('the schedule has begun');
  await schedule.stop();
  expect([test.tries, test.stopped]).toEqual([3, 1]);
});

it('the schedule of start ends also before the disk can be written', async () => {
  const { test, open, logger } = openingAfter(Infinity);
  const schedule = await openWhenWritable(
    open,
    logger,
    (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(readOnly))),
  );
  await schedule.stop();
  expect([test.tries, test.stopped]).toEqual([1, 0]);
});

it('any other error of the schedule ends start', async () => {
  const { logger } = openingAfter(0);
  const refused = openWhenWritable(() => Promise.reject(new Error('One scheduler works here')), logger);
  await expect(refused).rejects.toThrow('One scheduler works here');
});
