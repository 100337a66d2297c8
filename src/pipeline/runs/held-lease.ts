import { readFileSync } from 'node:fs';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder, replaceFile, type Effects } from '../../kit/files/effects.ts';

/**
 * A holder renews its lease often and relies on it for `believed` after each renewal; others take over a lease that has
 * not changed for `silence`. The difference is more than the 15 seconds that a postback may take, so that the old
 * holder's last postback has ended when the next holder begins. Clocks of machines are never compared for that. A
 * holder whose clock differs from storage's for `wrongClock` gives the lease up.
 */
export const leaseTimes = { renewal: 4_000, look: 1_500, believed: 28_000, silence: 45_000, wrongClock: 60_000 };

/**
 * Variable with the epoch of the schedule that started this process; it writes nothing once another has taken over.
 */
export const writerEpochVariable = 'OFFERLINE_WRITER_EPOCH';

/**
 * Two clocks of the machine, in milliseconds: the monotonic one, which all processes share, and the wall clock, which
 * also goes on while the machine sleeps. A lease is valid only by both.
 */
export interface LeaseClocks {
  steady(): number;
  wall(): number;
}

export const realLeaseClocks: LeaseClocks = {
  steady: () => Number(process.hrtime.bigint() / 1_000_000n),
  wall: () => Date.now(),
};

interface HeldLease {
  epoch: number;
  until: { steady: number; wall: number };
}

/** Writes the lease after a renewal, for the processes that the schedule starts. */
export async function writeHeldLease(data: DataDirectory, lease: HeldLease, { files }: Effects): Promise<void> {
  makePrivateFolder(data.warehouse);
  await replaceFile(data.writerLeaseFile, JSON.stringify(lease), 'writer lease', files);
}

/**
 * Returns whether the schedule of that epoch still is the writer. A stopped schedule renews nothing, so its processes
 * get false before another machine can take over.
 */
export function holdsLease(data: DataDirectory, epoch: number, clocks: LeaseClocks = realLeaseClocks): boolean {
  const held = readHeldLease(data, clocks);
  return held?.epoch === epoch && held.left > 0;
}

/** Returns the lease that this machine's schedule renewed last, and the milliseconds left; undefined without one. */
export function readHeldLease(data: DataDirectory, clocks: LeaseClocks): { epoch: number; left: number } | undefined {
  try {
    const { epoch, until } = JSON.parse(readFileSync(data.writerLeaseFile, 'utf8')) as HeldLease;
    return { epoch, left: Math.min(until.steady - clocks.steady(), until.wall - clocks.wall()) };
  } catch {
    return undefined;
  }
}
