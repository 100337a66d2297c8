import { readRecentRuns, type RecentRun } from '../../../pipeline/runs/recent-runs.ts';
import { readPipelineReports, type PipelineReport } from '../../../pipeline/status/pipelines-status.ts';
import { durationBars } from '../../charts/duration-bars.ts';
import { actionForm } from '../../html/action-form.ts';
import { filterForm } from '../../html/filter-form.ts';
import { html } from '../../../kit/html/html.ts';
import { headline } from '../../../kit/text/headline.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { missing, numberValue, secondsBetween, snapshotLink, textOrMissing } from '../../html/values.ts';
import { ConsoleError, type Page } from '../../page/page.ts';

type RunRow = Omit<RecentRun, 'stages'> & { seconds: number | null };

export const noEnd = 'the run goes on, or its end was not recorded';

/** More bars could not be distinguished. */
const maxBars = 200;

const shownError = ({ error }: { error: string | null }) =>
  textOrMissing(error === null ? null : headline(error), 'none');

const columns: readonly Column<RunRow>[] = [
  { name: 'run_id', title: 'Run', kind: 'number', link: 'runs' },
  { name: 'pipeline', title: 'Pipeline' },
  { name: 'status', title: 'State', kind: 'status' },
  { name: 'started_at', title: 'Started', kind: 'moment' },
  {
    name: 'seconds',
    title: 'Duration, s',
    kind: 'number',
    show: ({ seconds }) => (seconds === null ? missing(noEnd) : numberValue(seconds, 1)),
  },
  { name: 'as_of', title: 'As of', kind: 'moment' },
  { name: 'scheduled_at', title: 'Scheduled for', kind: 'moment', whyNone: 'started by hand' },
  {
    name: 'snapshot_id',
    title: 'Published',
    show: ({ snapshot_id }) => (snapshot_id === null ? missing('it published nothing') : snapshotLink(snapshot_id)),
  },
  { name: 'error', title: 'Error', show: shownError },
];

const outcomeColumns: readonly Column<PipelineReport>[] = [
  { name: 'pipeline', title: 'Pipeline' },
  { name: 'outcome', title: 'Last outcome', kind: 'status' },
  { name: 'at', title: 'Ended', kind: 'moment' },
  { name: 'last_good_at', title: 'Last good', kind: 'moment', whyNone: 'none known' },
  { name: 'error', title: 'Error', show: shownError },
];

export const runsPage: Page = {
  path: '/runs',
  navigation: 'Runs',
  live: true,
  async show({ address, user, data, now, part }) {
    const status = address.get('status');
    if (status !== undefined && status !== 'failed')
      throw new ConsoleError(400, `status is "${status}"; it can be "failed", or left out`);
    const pipeline = address.get('pipeline');
    const { runs } = readRecentRuns(data);
    const found = runs
      .filter((run) => status === undefined || run.status === 'failed' || run.status === 'interrupted')
      .filter((run) => pipeline === undefined || run.pipeline === pipeline)
      .map(rowOf);
    const bars = found
      .flatMap(({ run_id, seconds, status: state }) =>
        seconds === null ? [] : [{ name: String(run_id), seconds, failed: state !== 'done' }],
      )
      .slice(0, maxBars)
      .toReversed();
    const failed = bars.filter((bar) => bar.failed).length;
    return {
      title: 'Runs',
      question: 'Which runs were done, which failed, and why? Live: the newest 500 runs of the run ledger.',
      parts: [
        actionForm(user, { action: 'refresh', title: 'Refresh now' }),
        filterForm(address, [
          { name: 'status', title: 'State', choices: ['failed'] },
          { name: 'pipeline', title: 'Pipeline', choices: [...new Set(runs.map((run) => run.pipeline))].toSorted() },
        ]),
        bars.length > 1 &&
          (await durationBars(`Duration of the newest ${bars.length} of these runs, seconds; ${failed} failed.`, bars)),
        dataTable<PipelineReport>({
          name: 'outcomes',
          caption: 'Last outcome of each pipeline on this machine, also of what could not begin (live)',
          columns: outcomeColumns,
          rows: readPipelineReports(data, now),
          command: 'offerline status',
          empty: 'No pipeline has run here since outcomes are noted.',
        }),
        dataTable<RunRow>({
          name: 'runs',
          caption: 'Runs, newest first (live)',
          columns,
          rows: found.slice(part.first, part.first + part.rows),
          total: found.length,
          first: part.first,
          command: `offerline runs --limit 500${status === undefined ? '' : ' --failed'}`,
          empty: html`No run matches. <code>offerline run refresh</code> starts one.`,
        }),
      ],
    };
  },
};

function rowOf({ stages: _stages, ...run }: RecentRun): RunRow {
  const seconds = run.finished_at === null ? null : secondsBetween(run.started_at, run.finished_at);
  return { ...run, seconds };
}
