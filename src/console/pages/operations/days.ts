import { dayOption, addDays, dayOf } from '../../../kit/time/moment.ts';
import { calendar } from '../../charts/calendar.ts';
import { ConsoleError } from '../../page/console-error.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { actionForm } from '../../html/action-form.ts';
import type { Address } from '../../html/address.ts';
import { figure, moment, unknown } from '../../html/figures.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page } from '../../page/page.ts';
import { linkTo, stateOf } from '../../html/states.ts';

type DayRow = ConsoleRow<'days'>;

type StateRow = ConsoleRow<'day_states'>;

/** Where the address says nothing. */
const shownDays = 60;
const mostDays = 800;

const stateColumns: readonly Column<StateRow>[] = [
  { name: 'state', title: 'State', show: ({ state }) => stateOf(state) },
  { name: 'days', title: 'Days', kind: 'number' },
  { name: 'first_day', title: 'First' },
  { name: 'last_day', title: 'Last' },
];

const dayColumns: readonly Column<DayRow>[] = [
  { name: 'report_date', title: 'Day' },
  { name: 'state', title: 'State', show: ({ state }) => stateOf(state) },
  {
    name: 'causes',
    title: 'What it lacks',
    show: ({ causes, state }) => (causes === '' ? unknown(withoutCause(state)) : html`${causes}`),
  },
  {
    name: 'offers',
    title: 'Offers',
    kind: 'number',
    show: ({ offers }) => (offers === null ? unknown('no report') : figure(offers)),
  },
  { name: 'as_of', title: 'True for', show: ({ as_of }) => moment(as_of, 'no report') },
  {
    name: 'run_id',
    title: 'Run',
    kind: 'number',
    show: ({ run_id }) => (run_id === null ? unknown('no report') : linkTo('runs', run_id)),
  },
];

/** Which daily reports are true? */
export const daysPage: Page = {
  path: '/days',
  navigation: 'Days',
  async show({ snapshot, address, user }) {
    const range = rangeOf(address, dayOf(snapshot.asOf));
    const states = await snapshot.ask('day_states');
    const days = await snapshot.ask('days', { parameters: range });
    const due = states.rows.filter(({ state }) => state === 'missing' || state === 'outdated');
    return {
      title: 'Days',
      question: `Which daily reports are true? From ${range.from} on and before ${range.to}, UTC days.`,
      parts: [
        table<StateRow>({
          name: 'states',
          caption: 'All days by state',
          columns: stateColumns,
          ...states,
          empty: html`There is no report yet: <code>offerline run refresh</code> makes those of new days.`,
        }),
        filterForm(address.with(range), [
          { name: 'from', title: 'From', kind: 'date' },
          { name: 'to', title: 'Before', kind: 'date' },
        ]),
        html`<section>
          <h2>Calendar</h2>
          ${calendar(new Map(days.rows.map(({ report_date, state }) => [report_date, stateOf(state)])))}
        </section>`,
        backfill(user, due),
        table<DayRow>({
          name: 'days',
          caption: 'Days, the newest first',
          columns: dayColumns,
          ...days,
          command: 'offerline backfill reports --dry-run',
          empty: html`No day of these has a report or traffic. <code>offerline backfill reports</code> computes those of days
            that have.`,
        }),
      ],
    };
  },
};

function backfill(user: { role: string }, due: readonly StateRow[]): Html {
  const first = due.map(({ first_day }) => first_day).toSorted()[0];
  const last = due
    .map(({ last_day }) => last_day)
    .toSorted()
    .at(-1);
  return html`<section>
    <h2>Backfill</h2>
    <p>
      ${first === undefined ? 'No day is missing or outdated.' : `Days are missing or outdated from ${first} to ${last}.`}
      Each run computes the ten newest of them; a backfill computes all, and can be ended and begun again at any time. On the
      command line: <code>offerline backfill reports</code>
    </p>
    ${actionForm(user, {
      action: 'backfill',
      title: 'Backfill',
      fields: [
        { name: 'from', title: 'From', kind: 'date', value: first },
        { name: 'to', title: 'To, that day too', kind: 'date', value: last },
        { name: 'all', title: 'also those that are current', kind: 'check' },
      ],
    })}
  </section>`;
}

/** Half-open; without parameters the last days up to the snapshot's. */
function rangeOf(address: Address, today: string): { from: string; to: string } {
  try {
    const to = dayOption(address.get('to') ?? addDays(today, 1), 'to');
    const from = dayOption(address.get('from') ?? addDays(to, -shownDays), 'from');
    if (from >= to) throw new ConsoleError(400, `from is ${from}, which is not before ${to}`);
    if (addDays(from, mostDays) < to) throw new ConsoleError(400, `ask for ${mostDays} days at most`);
    return { from, to };
  } catch (error) {
    throw error instanceof ConsoleError ? error : new ConsoleError(400, (error as Error).message);
  }
}

function withoutCause(state: string): string {
  if (state === 'outdated') return 'it was computed before its day was over';
  return state === 'missing' ? 'it was never computed' : 'nothing';
}
