import { dayNumber, numberOfDay } from '../../../kit/time/day-number.ts';
import type { Day } from '../../../kit/time/moment.ts';
import { KeyRun, type SortedKeys } from './key-run.ts';

/** Days are numbered from 1970-01-01, in 16 bits; 0 means that day and all earlier and later ones. */
const dayZero = numberOfDay('1970-01-01');
const lastNumber = 0xffff;
/** SQL for the number that key runs have for the day of a TIMESTAMPTZ. */
export function shortDayNumber(time: string): string {
  const day = `${dayNumber(time)} - ${dayZero}`;
  return `CASE WHEN ${day} BETWEEN 1 AND ${lastNumber} THEN ${day} ELSE 0 END`;
}

/** The number that key runs have for a day. */
function shortNumberOf(day: Day): number {
  const number = numberOfDay(day) - dayZero;
  return number >= 1 && number <= lastNumber ? number : 0;
}

/**
 * Looks keys up in key runs: the days that may have an event with one of them. Throws `DamagedKeyRun`, and errors of
 * the file system.
 */
export function daysOf(keyRuns: readonly string[], sought: SortedKeys): (day: Day) => boolean {
  const days = new Set<number>();
  for (const path of keyRuns) {
    using run = new KeyRun(path);
    run.findDays(sought, days);
  }
  return (day) => days.has(shortNumberOf(day));
}

/** Returns a key as a look-up takes it. */
export function soughtKey(key: bigint): SortedKeys {
  return {
    high: Uint32Array.of(Number(key >> 28n)),
    low: Uint32Array.of(Number((key >> 12n) & 0xffffn) * 0x1_0000),
  };
}
