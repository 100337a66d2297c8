import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import type { DeliverySummary } from '../../../src/postbacks/pass/deliver-due.ts';
import type { Bench } from '../bench.ts';
import { measureProcess, type Measured } from '../measured-process.ts';
import { inTurns, type Pair } from '../rounds.ts';
import { canPin, PinnedProcess, serverCore } from '../serve/pinned-process.ts';
import { addresses, dueFor, hangingSite } from './due-postbacks.ts';

/** Due at once, and the few that memory is compared with. */
export const manyDue = 100_000;
export const fewDue = 10_000;
/** To each address while one hangs. */
const dueToEach = 500;
/** As many requests at once as a pass sends to twenty sites. */
const atOnce = addresses * 8;

export interface MeasuredDelivery extends Measured {
  /** Within how many milliseconds 95 % of the postbacks to sites that answer were delivered. */
  p95: number;
  summary: DeliverySummary;
  /** The most that was in use after a garbage collection; 0 where that was not looked at. */
  liveBytes: number;
}

export interface PostbackResults {
  /** The same number of requests: a pass, and a bare loop. */
  throughput: Pair<MeasuredDelivery, Measured>[];
  /** A pass over many, and over few, with an eye on what is in use. */
  memory: Pair<MeasuredDelivery, MeasuredDelivery>[];
  /** Nineteen addresses that answer: with a twentieth that hangs, and alone. */
  hanging: Pair<MeasuredDelivery, MeasuredDelivery>[];
}

/** Delivery of postbacks to a receiver on this machine. */
export async function measurePostbacks({
  options: { rounds },
  folder,
  terminal: { logger },
  signal,
}: Bench): Promise<PostbackResults> {
  const receiver = new PinnedProcess(new URL('./receiver-server.ts', import.meta.url), [], {
    core: canPin() ? serverCore : undefined,
    signal,
  });
  try {
    const address = await receiver.address();
    logger.info({ postbacks: manyDue }, 'writing down postbacks that are due');
    const due = (name: string, postbacks: number, how?: { hanging?: boolean; sites?: number }) =>
      dueFor(join(folder, name), address, postbacks, how);
    const many = await due('many-due', manyDue);
    const few = await due('few-due', fewDue);
    const withHanging = await due('one-hanging', dueToEach * addresses, { hanging: true });
    const without = await due('none-hanging', dueToEach * (addresses - 1), { sites: addresses - 1 });
    const deliver = (data: DataDirectory) => deliverCopy(data, [], signal);
    const deliverWatched = (data: DataDirectory) => deliverCopy(data, ['live'], signal);
    return {
      throughput: await inTurns(
        rounds,
        () => deliver(many),
        () => bareLoop(address, manyDue, signal),
        (round) => logger.info({ round }, 'postbacks: throughput'),
      ),
      memory: await inTurns(
        rounds,
        () => deliverWatched(many),
        () => deliverWatched(few),
        (round) => logger.info({ round }, 'postbacks: memory'),
      ),
      hanging: await inTurns(
        rounds,
        () => deliver(withHanging),
        () => deliver(without),
        (round) => logger.info({ round }, 'postbacks: one that hangs'),
      ),
    };
  } finally {
    await receiver.stop();
  }
}

/** A pass leaves nothing due, so each has a copy of its own. */
async function deliverCopy(data: DataDirectory, words: string[], signal: AbortSignal): Promise<MeasuredDelivery> {
  const copy = `${data.root}-copy`;
  await cp(data.root, copy, { recursive: true });
  try {
    const measured = await measureProcess(new URL('./delivery.ts', import.meta.url), [copy, hangingSite, ...words], {
      environment: { OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' },
      signal,
    });
    return {
      ...measured,
      ...(JSON.parse(measured.output) as { seconds: number; p95: number; summary: DeliverySummary; liveBytes: number }),
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
