import { calendar } from '../../charts/calendar.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { actionForm } from '../../html/action-form.ts';
import { statusBadge } from '../../html/badges.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { textOrMissing } from '../../html/values.ts';
import type { Page } from '../../page/page.ts';
import { rangeForm, timeRangeOf } from '../time-range.ts';

type DayRow = ConsoleRow<'days'>;
type StateRow = ConsoleRow<'day_states'>;

const maxDays = 800;

const stateColumns: readonly Column<StateRow>[] = [
  { name: 'state', title: 'State', kind: 'status' },
  { name: 'days', title: 'Days', kind: 'number' },
  { name: 'first_day', title: 'First' },
  { name: 'last_day', title: 'Last' },
];

const dayColumns: readonly Column<DayRow>[] = [
  { name: 'report_date', title: 'Day' },
  { name: 'state', title: 'State', kind: 'status' },
  {
    name: 'causes',
    title: 'Missing data',
    show: ({ causes, state }) => textOrMissing(causes === '' ? null : causes, withoutCause(state)),
  },
  { name: 'offers', title: 'Offers', kind: 'number', whyNone: 'no report' },
  { name: 'as_of', title: 'Report as of', kind: 'moment', whyNone: 'no report' },
  { name: 'run_id', title: 'Run', kind: 'number', link: 'runs', whyNone: 'no report' },
];

export const daysPage: Page = {
  path: '/days',
  navigation: 'Days',
  async show({ snapshot, address, user }) {
    const range = timeRangeOf(address, snapshot.asOf, maxDays);
    const states = await snapshot.ask('day_states');
    const days = await snapshot.ask('days', { parameters: { ...range } });
    const due = states.rows.filter(({ state }) => state === 'missing' || state === 'outdated');
    return {
      title: 'Days',
      question: 'Which daily reports are complete?',
      parts: [
        dataTable<StateRow>({
          name: 'states',
          caption: 'All days by state',
          columns: stateColumns,
          ...states,
          empty: html`There is no report yet. <code>offerline run refresh</code> computes the reports of new days.`,
        }),
        rangeForm(address, range, snapshot.asOf),
        html`<section>
          <h2>Calendar</h2>
          ${calendar(new Map(days.rows.map(({ report_date, state }) => [report_date, statusBadge(state)])))}
        </section>`,
        backfill(user, due),
        dataTable<DayRow>({
          name: 'days',
          caption: 'Days, newest first',
          columns: dayColumns,
          ...days,
          command: 'offerline backfill reports --dry-run',
          empty: html`None of these days has a report or traffic. <code>offerline backfill reports</code> computes the
            reports of days with traffic.`,
        }),
      ],
    };
  },
};

function backfill(user: { role: string }, due: readonly StateRow[]): Html {
  const [first] = due.map(({ first_day }) => first_day).toSorted();
  const [last] = due.map(({ last_day }) => last_day).toSorted((one, other) => (one < other ? 1 : -1));
  return html`<section>
    <h2>Backfill</h2>
    <p>
      ${first === undefined ? 'No day is missing or outdated.' : `Days are missing or outdated from ${first} to ${last}.`}
      Each run computes the ten newest of the outdated ones; missing ones wait for a backfill, which computes all. You can
      stop it and start it again at any time.
      On the command line: <code>offerline backfill reports</code>
    </p>
    ${actionForm(user, {
      action: 'backfill',
      title: 'Backfill',
      fields: [
        { name: 'from', title: 'From', kind: 'date', value: first },
        { name: 'to', title: 'To, including that day', kind: 'date', value: last },
        { name: 'all', title: 'also current days', kind: 'check' },
      ],
    })}
  </section>`;
}

function withoutCause(state: string): string {
  if (state === 'outdated') return 'it was computed before its day was over';
  return state === 'missing' ? 'it was never computed' : 'nothing';
}
