import cron from 'node-cron';
import { UsageError } from '../errors/errors.ts';

const millisecondsPerDay = 86_400_000;
/** Days within which any expression has a match, 29 February on a given weekday in one century included. */
const maxDays = 366 * 41;

/**
 * Moments of a cron expression, in milliseconds since the epoch, UTC. node-cron itself has no memory and computes from
 * the clock only; its reading of the expression decides here too.
 */
export class CronTimes {
  readonly expression: string;
  /** Seconds of the day, ascending. */
  readonly #seconds: number[];
  readonly #isDay: (day: number) => boolean;

  /** Throws `UsageError` with the key, such as `offerline.json: schedule.refresh`. */
  constructor(expression: string, key: string) {
    this.expression = expression;
    const mistake = mistakeIn(expression);
    if (mistake !== undefined)
      throw new UsageError(`${key} "${expression}" is no cron expression (${mistake}); write it like "*/5 * * * *"`);
    const { hour, minute, second } = cron.parse(expression);
    this.#seconds = hour
      .flatMap((hours) => minute.flatMap((minutes) => second.map((seconds) => hours * 3600 + minutes * 60 + seconds)))
      .toSorted((a, b) => a - b);
    const [firstOfDay = 0] = this.#seconds;
    // Never started: used to match days, words such as L and 15W included.
    const task = cron.createTask(expression, () => undefined, { timezone: 'UTC' });
    this.#isDay = (day) => task.match(new Date(day + firstOfDay * 1000));
  }

  /** Returns the first moment after the given one; undefined where the expression has none. */
  next(after: number): number | undefined {
    let day = Math.floor(after / millisecondsPerDay) * millisecondsPerDay;
    for (let days = 0; days <= maxDays; days++, day += millisecondsPerDay) {
      const second = this.#isDay(day) ? this.#seconds.find((each) => day + each * 1000 > after) : undefined;
      if (second !== undefined) return day + second * 1000;
    }
    return undefined;
  }

  /** Moments in (after, until], ascending. */
  *between(after: number, until: number): Generator<number> {
    for (let time = this.next(after); time !== undefined && time <= until; time = this.next(time)) yield time;
  }

  /** The newest moment in (after, until]. */
  newest(after: number, until: number): number | undefined {
    for (
      let day = Math.floor(until / millisecondsPerDay) * millisecondsPerDay;
      day + millisecondsPerDay > after;
      day -= millisecondsPerDay
    ) {
      const second = this.#isDay(day) ? this.#seconds.findLast((each) => day + each * 1000 <= until) : undefined;
      if (second !== undefined) return day + second * 1000 > after ? day + second * 1000 : undefined;
    }
    return undefined;
  }
}

/**
 * Returns the mistake in an expression, if there is one. node-cron lists all members of a range before it checks its
 * bounds.
 */
function mistakeIn(expression: string): string | undefined {
  const [large] = /\d{4,}/.exec(expression) ?? [];
  if (large !== undefined) return `no field takes ${large}`;
  const { valid, errors } = cron.validateDetailed(expression);
  return valid ? undefined : errors[0]?.message;
}
