import { addDays, dayOf, dayOption, type Day } from '../../kit/time/moment.ts';
import type { Address } from '../html/address.ts';
import { filterForm, presets } from '../html/filter-form.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { ConsoleError, parameterOf } from '../page/page.ts';

/** UTC days, the first and the last included, as in options of commands. */
export interface TimeRange {
  from: Day;
  to: Day;
}

const defaultDays = 60;

/** Reads a day that a range begins or ends with: the days around it have years of four digits, too. */
function dayOfRange(text: string, name: string): Day {
  const day = dayOption(text, name);
  if (day < '1970-01-01' || day > '2999-12-31')
    throw new RangeError(`${name} is ${day}; it has to be a day of the years 1970 to 2999`);
  return day;
}

/** The days that an address asks for. Default: the last 60, with the snapshot's own day. */
export function timeRangeOf(address: Address, asOf: string, maxDays = 400): TimeRange {
  const to = parameterOf(address, 'to', dayOfRange) ?? dayOf(asOf);
  const from = parameterOf(address, 'from', dayOfRange) ?? addDays(to, 1 - defaultDays);
  if (from > to) throw new ConsoleError(400, `from is ${from} and to is ${to}: to has to be the same or a later day`);
  if (addDays(from, maxDays) <= to)
    throw new ConsoleError(400, `${from} to ${to} is more than ${maxDays} days: ask for a shorter time`);
  return { from, to };
}

/** The range as presets, form and sentence. The day of `asOf`, the snapshot's, is the last of each preset. */
export function rangeForm(address: Address, { from, to }: TimeRange, asOf: string): Html {
  const shown = address.with({ from, to });
  const end = dayOf(asOf);
  const lastDays = [1, 2, 7, 14, 30, 60].map((days) => ({
    title: days === 1 ? 'today' : `${days} days`,
    sets: { from: addDays(end, 1 - days), to: end },
  }));
  return html`${presets(shown, 'Time', lastDays)}${filterForm(shown, [
    { name: 'from', title: 'From (UTC day)', kind: 'date' },
    { name: 'to', title: 'To, including that day', kind: 'date' },
  ])}
    <p class="quiet">
      UTC days ${from} to ${to}, both included. Days before the first known day and after the snapshot's day are left out.
    </p>`;
}
