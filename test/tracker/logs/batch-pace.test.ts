import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BatchPace } from '../../../src/tracker/logs/batch-pace.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Whether the next batch begins without anything more, given its rows by now. */
async function begun(pace: BatchPace, waiting: number): Promise<{ isBegun: boolean; beginning: Promise<void> }> {
  let isBegun = false;
  const beginning = pace.untilNext(waiting).then(() => void (isBegun = true));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return { isBegun, beginning };
}

/** After a batch during which as many came as it has rows. */
async function loadedPace(): Promise<BatchPace> {
  const pace = new BatchPace();
  await begun(pace, 32);
  pace.done(32, 32);
  return pace;
}

it('lets who comes alone not wait', async () => {
  const pace = new BatchPace();
  expect((await begun(pace, 1)).isBegun).toBe(true);
  pace.done(1, 0);
  vi.advanceTimersByTime(1);
  expect((await begun(pace, 1)).isBegun).toBe(true);
});

it('begins a batch of some rows a millisecond after the one before', async () => {
  const pace = new BatchPace();
  await begun(pace, 1);
  pace.done(1, 3);
  const { isBegun, beginning } = await begun(pace, 3);
  expect(isBegun).toBe(false);
  pace.count(31);
  vi.advanceTimersByTime(1);
  await beginning;
});

it('begins with the first row that comes later than that, where the timer is late', async () => {
  const pace = new BatchPace();
  await begun(pace, 1);
  pace.done(1, 3);
  const { isBegun, beginning } = await begun(pace, 3);
  expect(isBegun).toBe(false);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1);
  pace.count(4);
  await beginning;
});

it('begins at once where enough rows wait, or as soon as they do', async () => {
  const pace = new BatchPace();
  await begun(pace, 1);
  pace.done(1, 32);
  expect((await begun(pace, 32)).isBegun).toBe(true);
  pace.done(32, 4);
  const { isBegun, beginning } = await begun(pace, 4);
  expect(isBegun).toBe(false);
  pace.count(32);
  await beginning;
});

it('waits under load for most of those that came during the last batch', async () => {
  const pace = await loadedPace();
  // Longer ago than batches of a few wait for each other.
  vi.advanceTimersByTime(1);
  const { isBegun, beginning } = await begun(pace, 55);
  expect(isBegun).toBe(false);
  pace.count(56);
  await beginning;
});

it('does not wait again for those that did not come in time', async () => {
  const pace = await loadedPace();
  const { beginning } = await begun(pace, 40);
  vi.advanceTimersByTime(3);
  await beginning;
  pace.done(40, 10);
  expect((await begun(pace, 32)).isBegun).toBe(true);
});
