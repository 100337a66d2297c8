import { readFileSync } from 'node:fs';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder, replaceFile, type Effects } from '../../kit/files/effects.ts';

/**
 * A holder renews its lease often and believes in it for `believed` after each renewal; others take one over that has
 * not changed for `silence`. Between the two lies the longest that a postback under way may take, 15 seconds, so that
 * nothing of the one before is on its way any more when the next begins. Clocks of machines are never compared.
 */
export const leaseTimes = { renewal: 4_000, look: 1_500, believed: 28_000, silence: 45_000 };

/** The epoch of the schedule that started this process, which must write nothing once another one has taken over. */
export const writerEpochVariable = 'OFFERLINE_WRITER_EPOCH';

/**
 * Two clocks of the machine, in milliseconds: the one that nobody sets, which all processes share, and the wall clock,
 * which also goes on while the machine sleeps. A lease holds only while both say so.
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

/** Written by the schedule after each renewal, for the processes that it starts. */
export async function writeHeldLease(data: DataDirectory, lease: HeldLease, { files }: Effects): Promise<void> {
  makePrivateFolder(data.warehouse);
  await replaceFile(data.writerLeaseFile, JSON.stringify(lease), 'writer lease', files);
}

/**
 * Whether the schedule of that epoch still is the writer. A schedule that was stopped for a while renews nothing, so
 * its processes find this false before another machine can have taken over.
 */
export function holdsLease(data: DataDirectory, epoch: number, clocks: LeaseClocks = realLeaseClocks): boolean {
  const held = readHeldLease(data, clocks);
  return held?.epoch === epoch && held.left > 0;
}

/**
 * The lease as the schedule here last renewed it, and for how many milliseconds it still holds; undefined where there
 * never was one.
 */
export function readHeldLease(data: DataDirectory, clocks: LeaseClocks): { epoch: number; left: number } | undefined {
  try {
    const { epoch, until } = JSON.parse(readFileSync(data.writerLeaseFile, 'utf8')) as HeldLease;
    return { epoch, left: Math.min(until.steady - clocks.steady(), until.wall - clocks.wall()) };
  } catch {
    return undefined;
  }
}
