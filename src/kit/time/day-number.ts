import { dayOf, momentOf, type Day } from './moment.ts';

const microsecondsPerDay = 86_400_000_000;
/** Integer division rounds towards zero, so days count from the earliest one that an event can have, 0001-01-01. */
const earliestDay = -719_162;

/**
 * SQL for the number of the UTC day of a TIMESTAMPTZ. A date would cost more than all checks of a row, since it needs
 * the calendar.
 */
export function dayNumber(time: string): string {
  return `(epoch_us(${time}) - ${BigInt(earliestDay) * BigInt(microsecondsPerDay)}) // ${microsecondsPerDay}`;
}

export function dayOfNumber(number: number): Day {
  return dayOf(momentOf(BigInt(number + earliestDay) * BigInt(microsecondsPerDay)));
}

export function numberOfDay(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`) / 86_400_000 - earliestDay;
}
