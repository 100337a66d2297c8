import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import type { Bench, Measure } from '../bench.ts';
import { measureProcess, type Measured } from '../measured-process.ts';
import { inTurns, measureOf } from '../rounds.ts';
import { canPin, PinnedProcess, serverCore } from '../serve/pinned-process.ts';
import { addresses, dueFor, hangingSite } from './due-postbacks.ts';

/** To each address while one hangs. */
const dueToEach = 500;
/** As many requests at once as a pass sends to twenty sites. */
const atOnce = addresses * 8;

interface MeasuredDelivery extends Measured {
  /** The most that was in use after a garbage collection; 0 where that was not watched. */
  liveBytes: number;
  /** Within how many milliseconds 95 % of the postbacks to sites that answer were delivered. */
  p95: number;
}

/**
 * Delivery to a receiver on this machine: a pass against a bare loop of as many requests, and nineteen addresses that
 * answer, with a twentieth that hangs and alone. Memory in use must not grow with what is due.
 */
export async function measurePostbacks({ options: { rounds, quick }, folder, signal }: Bench): Promise<Measure[]> {
  const receiver = new PinnedProcess(new URL('./receiver-server.ts', import.meta.url), [], {
    core: canPin() ? serverCore : undefined,
    signal,
  });
  try {
    const address = await receiver.address();
    const due = (name: string, postbacks: number, how?: { hanging?: boolean; sites?: number }) =>
      dueFor(join(folder, name), address, postbacks, how);
    const manyDue = quick ? 10_000 : 100_000;
    const many = await due('many-due', manyDue);
    const few = await due('few-due', manyDue / 10);
    const withHanging = await due('one-hanging', dueToEach * addresses, { hanging: true });
    const without = await due('none-hanging', dueToEach * (addresses - 1), { sites: addresses - 1 });
    const passes = await inTurns(
      rounds,
      () => deliverCopy(many, signal),
      () => bareLoop(address, manyDue, signal),
    );
    const watched = await inTurns(
      rounds,
      () => deliverCopy(many, signal, ['live']),
      () => deliverCopy(few, signal, ['live']),
    );
    const besides = await inTurns(
      rounds,
      () => deliverCopy(withHanging, signal),
      () => deliverCopy(without, signal),
    );
    return [
      measureOf(
        `a pass over ${manyDue} due postbacks / a bare undici loop, requests a second`,
        passes.map(({ first, second }) => second.seconds / first.seconds),
        '>= 0.6',
      ),
      measureOf(
        `memory in use with ${manyDue} due / with ${manyDue / 10}`,
        watched.map(({ first, second }) => first.liveBytes / second.liveBytes),
        '<= 1.2',
      ),
      measureOf(
        '95th percentile of 19 addresses beside one that hangs / without it',
        besides.map(({ first, second }) => first.p95 / second.p95),
        '<= 1.2',
      ),
    ];
  } finally {
    await receiver.stop();
  }
}

/** A pass leaves nothing due, so each has a copy of its own. */
async function deliverCopy(
  data: DataDirectory,
  signal: AbortSignal,
  words: readonly string[] = [],
): Promise<MeasuredDelivery> {
  const copy = `${data.root}-copy`;
  await cp(data.root, copy, { recursive: true });
  try {
    const measured = await measureProcess(new URL('./delivery.ts', import.meta.url), [copy, hangingSite, ...words], {
      environment: { OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' },
      signal,
    });
    return {
      ...measured,
      ...(JSON.parse(measured.output) as { seconds: number; p95: number; liveBytes: number }),
    };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function bareLoop(address: string, requests: number, signal: AbortSignal): Promise<Measured> {
  const measured = await measureProcess(
    new URL('./bare-loop.ts', import.meta.url),
    [address, String(requests), String(atOnce)],
    { signal },
  );
  return { ...measured, ...(JSON.parse(measured.output) as { seconds: number }) };
}
