import { readRecentRuns, type RecentRun } from '../../../pipeline/runs/recent-runs.ts';
import { durationBars } from '../../charts/duration-bars.ts';
import { actionForm } from '../../html/action-form.ts';
import { figure, moment, unknown } from '../../html/figures.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import { ConsoleError } from '../../page/console-error.ts';
import type { Page } from '../../page/page.ts';
import { linkTo, secondsBetween, stateOf, textOr } from '../../html/states.ts';

type RunRow = Omit<RecentRun, 'stages'> & { seconds: number | null };

/** As many bars as can be told from one another. */
const mostBars = 200;

const columns: readonly Column<RunRow>[] = [
  { name: 'run_id', title: 'Run', kind: 'number', show: ({ run_id }) => linkTo('runs', run_id) },
  { name: 'pipeline', title: 'Pipeline' },
  { name: 'status', title: 'State', show: ({ status }) => stateOf(status) },
  { name: 'started_at', title: 'Began', show: ({ started_at }) => moment(started_at) },
  {
    name: 'seconds',
    title: 'Took, s',
    kind: 'number',
    show: ({ seconds }) => (seconds === null ? unknown('it has not ended, or nobody saw it end') : figure(seconds, 1)),
  },
  { name: 'as_of', title: 'As of', show: ({ as_of }) => moment(as_of) },
  { name: 'scheduled_at', title: 'Scheduled for', show: ({ scheduled_at }) => moment(scheduled_at, 'started by hand') },
  {
    name: 'snapshot_id',
    title: 'Published',
    show: ({ snapshot_id }) => textOr(snapshot_id, 'it published nothing'),
  },
  { name: 'error', title: 'Error', show: ({ error }) => textOr(error?.split('\n')[0] ?? null, 'none') },
];

/** What ran, and why did it not? */
export const runsPage: Page = {
  path: '/runs',
  navigation: 'Runs',
  live: true,
  async show({ address, user, data, part }) {
    const status = address.get('status');
    if (status !== undefined && status !== 'failed')
      throw new ConsoleError(400, `status is "${status}"; it can be "failed", or left out`);
    const pipeline = address.get('pipeline');
    const { runs } = readRecentRuns(data);
    const found = runs
      .filter((run) => status === undefined || run.status === 'failed' || run.status === 'interrupted')
      .filter((run) => pipeline === undefined || run.pipeline === pipeline)
      .map(rowOf);
    const timed = found.flatMap((run) => (run.seconds === null ? [] : [{ ...run, seconds: run.seconds }]));
    const bars = timed.slice(0, mostBars).toReversed();
    const failed = bars.filter((run) => run.status !== 'done').length;
    return {
      title: 'Runs',
      question:
        'What ran, and why did something not? Live: the newest 500 runs, as the ledger beside the warehouse has them.',
      parts: [
        actionForm(user, { action: 'refresh', title: 'Refresh now' }),
        filterForm(address, [
          { name: 'status', title: 'State', choices: ['failed'] },
          { name: 'pipeline', title: 'Pipeline', choices: [...new Set(runs.map((run) => run.pipeline))].toSorted() },
        ]),
        bars.length > 1
          ? await durationBars(
              `How long the newest ${bars.length} of these runs took, seconds; ${failed} did not come to a good end.`,
              bars.map(barOf),
            )
          : html``,
        table<RunRow>({
          name: 'runs',
          caption: 'Runs, the newest first (live)',
          columns,
          rows: found.slice(part.first, part.first + part.rows),
          total: found.length,
          first: part.first,
          command: `offerline runs --limit 500${status === undefined ? '' : ' --failed'}`,
          empty: html`No run is like that. <code>offerline run refresh</code> is one.`,
        }),
      ],
    };
  },
};

function rowOf({ stages: _stages, ...run }: RecentRun): RunRow {
  return { ...run, seconds: run.finished_at === null ? null : secondsBetween(run.started_at, run.finished_at) };
}

function barOf({ run_id, seconds, status }: RunRow & { seconds: number }) {
  return { name: String(run_id), seconds, failed: status !== 'done' };
}
