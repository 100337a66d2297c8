import { addDays, dayOf, dayOption, type Day } from '../../kit/time/moment.ts';
import type { Address } from '../html/address.ts';
import { filterForm, presets } from '../html/filter-form.ts';
import { html, type Html } from '../html/html.ts';
import { ConsoleError, parameterOf } from '../page/page.ts';

/** UTC days from the first up to the second, without it. */
export interface TimeRange {
  from: Day;
  to: Day;
}

const defaultDays = 60;

/** The days that an address asks for. Default: the last 60, with the snapshot's own day. */
export function timeRangeOf(address: Address, asOf: string, maxDays = 400): TimeRange {
  const to = parameterOf(address, 'to', dayOption) ?? addDays(dayOf(asOf), 1);
  const from = parameterOf(address, 'from', dayOption) ?? addDays(to, -defaultDays);
  if (from >= to) throw new ConsoleError(400, `from is ${from} and to is ${to}: from has to be an earlier day`);
  if (addDays(from, maxDays) < to)
    throw new ConsoleError(400, `${from} to ${to} is more than ${maxDays} days: ask for a shorter time`);
  return { from, to };
}

/** The range as presets, form and sentence. The day of `asOf`, the snapshot's, is the last of each preset. */
export function rangeForm(address: Address, { from, to }: TimeRange, asOf: string): Html {
  const shown = address.with({ from, to });
  const end = addDays(dayOf(asOf), 1);
  const lastDays = [1, 2, 7, 14, 30, 60].map((days) => ({
    title: days === 1 ? 'today' : `${days} days`,
    sets: { from: addDays(end, -days), to: end },
  }));
  return html`${presets(shown, 'Time', lastDays)}${filterForm(shown, [
    { name: 'from', title: 'From (UTC day)', kind: 'date' },
    { name: 'to', title: 'Before (UTC day)', kind: 'date' },
  ])}
    <p class="quiet">
      UTC days ${from} to ${addDays(to, -1)}. Days before the first known day and after the snapshot's day are left out.
    </p>`;
}
