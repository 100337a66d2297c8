import { addDays, dayOf, dayOption, type Day } from '../../../kit/time/moment.ts';
import { ConsoleError } from '../../page/console-error.ts';
import type { Address } from '../../html/address.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html, type Html } from '../../html/html.ts';

/** UTC days from the first up to the second, without it. */
export interface TimeRange {
  from: Day;
  to: Day;
}

const usualDays = 60;
const mostDays = 400;

/**
 * The days that an address asks for; where it does not say, the last 60 up to the snapshot's own, which is among them.
 */
export function timeRangeOf(address: Address, asOf: string): TimeRange {
  const to = dayIn(address, 'to') ?? addDays(dayOf(asOf), 1);
  const from = dayIn(address, 'from') ?? addDays(to, -usualDays);
  if (from >= to) throw new ConsoleError(400, `from is ${from} and to is ${to}: from has to be an earlier day`);
  if (addDays(from, mostDays) < to)
    throw new ConsoleError(400, `${from} to ${to} is more than ${mostDays} days: ask for a shorter time`);
  return { from, to };
}

function dayIn(address: Address, name: string): Day | undefined {
  const text = address.get(name);
  if (text === undefined) return undefined;
  try {
    return dayOption(text, name);
  } catch (error) {
    throw new ConsoleError(400, (error as Error).message);
  }
}

/** The range as a form, and as a sentence. */
export function rangeForm(address: Address, { from, to }: TimeRange): Html {
  const shown = address.with({ from, to });
  return html`${filterForm(shown, [
    { name: 'from', title: 'From (UTC day)', kind: 'date' },
    { name: 'to', title: 'up to, without', kind: 'date' },
  ])}
    <p class="quiet">
      Days of ${from} up to ${addDays(to, -1)}, UTC. Days before the first that is known and after the snapshot's are left out.
    </p>`;
}
