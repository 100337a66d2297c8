import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { holdsLease, writeHeldLease } from '../../../src/pipeline/runs/held-lease.ts';
import { leaseTimes } from '../../../src/pipeline/runs/held-lease.ts';

const root = await mkdtemp(join(tmpdir(), 'offerline-lease-'));
afterAll(() => rm(root, { recursive: true }));
const data = new DataDirectory(root);
const clocks = (steady: number, wall: number) => ({ steady: () => steady, wall: () => wall });

beforeEach(() => writeHeldLease(data, { epoch: 3, until: { steady: 1_000, wall: 90_000 } }, realEffects));

it.for([
  ['both clocks are before its end', 3, 999, 89_999, true],
  ['the clock that nobody sets has reached it', 3, 1_000, 0, false],
  ['the wall clock has reached it, since the machine slept', 3, 0, 90_000, false],
  ['another one has written since', 2, 0, 0, false],
  ['it is of an epoch before', 4, 0, 0, false],
] as const)('where %s, a process of epoch %d at %d, %d may go on: %s', ([, epoch, steady, wall, may]) => {
  expect(holdsLease(data, epoch, clocks(steady, wall))).toBe(may);
});

it('nobody holds one that was never written, or that cannot be read', async () => {
  await writeFile(data.writerLeaseFile, '{"epoch": 3, "until"');
  expect(holdsLease(data, 3, clocks(0, 0))).toBe(false);
  await rm(data.writerLeaseFile);
  expect(holdsLease(data, 3, clocks(0, 0))).toBe(false);
});

it('between the end of a lease and the next leader passes more time than a postback may take', () => {
  const longestAttempt = 15_000;
  expect(leaseTimes.silence - leaseTimes.believed).toBeGreaterThan(longestAttempt);
  // Several renewals may fail before the belief ends.
  expect(leaseTimes.believed).toBeGreaterThan(5 * leaseTimes.renewal);
  // Within a minute another writes.
  expect(leaseTimes.silence + leaseTimes.renewal + leaseTimes.look).toBeLessThan(60_000);
});
