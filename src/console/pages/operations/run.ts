import { readRecentRuns } from '../../../pipeline/runs/recent-runs.ts';
import { timeBars } from '../../charts/time-bars.ts';
import { ConsoleError } from '../../page/console-error.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { figure, moment, unknown } from '../../html/figures.ts';
import { html, nothing, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page, Visit } from '../../page/page.ts';
import { fileColumns, type FileRow } from './files.ts';
import { facts, secondsBetween, stateOf, textOr } from '../../html/states.ts';

type StageRow = ConsoleRow<'run_stages'>;
type RunRow = ConsoleRow<'run'> & { stages: readonly StageRow[] };

/** A run, and the query that told of it where it was not the live ledger. */
interface FoundRun {
  run: RunRow;
  sql: string | undefined;
}

const stageColumns: readonly Column<StageRow>[] = [
  { name: 'stage', title: 'Stage' },
  { name: 'status', title: 'State', show: ({ status }) => stateOf(status) },
  { name: 'started_at', title: 'Began', show: ({ started_at }) => moment(started_at) },
  {
    name: 'finished_at',
    title: 'Ended',
    show: ({ finished_at }) => moment(finished_at, 'it has not ended, or nobody saw it end'),
  },
  ...(['rows_in', 'rows_out', 'bytes'] as const).map((name) => ({
    name,
    title: { rows_in: 'Rows in', rows_out: 'Rows out', bytes: 'Bytes' }[name],
    kind: 'number' as const,
    show: (row: StageRow) => (row[name] === null ? unknown('it counts none') : figure(row[name])),
  })),
  { name: 'error', title: 'Error', show: ({ error }) => textOr(error, 'none') },
];

/** What did a run do, stage by stage, and what came of it? */
export const runPage: Page = {
  path: '/runs/:id',
  live: true,
  async show(visit) {
    const id = visit.path['id'] ?? '';
    if (!/^\d{1,9}$/.test(id)) throw new ConsoleError(400, `"${id}" is no number of a run; /runs has those there are.`);
    const found = readRecentRuns(visit.data).runs.find(({ run_id }) => String(run_id) === id);
    const { run, sql } = found === undefined ? await olderRun(visit, id) : { run: found, sql: undefined };
    const files = await visit.snapshot.ask('files', {
      parameters: { run: id, kind: '', status: '', path: '' },
      part: visit.part,
    });
    return {
      title: `Run ${id}, ${run.pipeline}`,
      question: 'What did this run do, stage by stage, and what came of it?',
      parts: [
        about(run, visit.now),
        run.error === null ? nothing : html`<h2>Error</h2><pre class="error" tabindex="0">${run.error}</pre>`,
        run.stages.length === 0 ? nothing : await gantt(run, visit.now),
        table<StageRow>({
          name: 'stages',
          caption: sql === undefined ? 'Stages (live)' : 'Stages',
          columns: stageColumns,
          rows: run.stages,
          sql,
          command: 'offerline runs --json',
          empty: 'It ended before its first stage.',
        }),
        table<FileRow>({
          name: 'files',
          caption: 'Files that it read',
          columns: fileColumns.map(({ sortable: _sortable, ...column }) => column),
          ...files,
          command: `offerline sql "FROM ingest_files WHERE run_id = ${id}"`,
          empty: html`None that snapshot ${visit.snapshot.id} knows of: it read none, or published nothing that could tell.`,
        }),
      ],
    };
  },
};

/** One that the live ledger has no more. */
async function olderRun({ snapshot }: Visit, id: string): Promise<FoundRun> {
  const { rows } = await snapshot.ask('run', { parameters: { run: id } });
  const [run] = rows;
  if (run === undefined)
    throw new ConsoleError(404, `There is no run ${id}, or retention.runs let it go; /runs has those there are.`);
  const { rows: stages, sql } = await snapshot.ask('run_stages', { parameters: { run: id } });
  return { run: { ...run, stages }, sql };
}

function about({ status, as_of, scheduled_at, started_at, finished_at, snapshot_id }: RunRow, now: number): Html {
  const took = secondsBetween(started_at, finished_at ?? now);
  return html`<div ${status === 'running' && html` data-job="running"`}>${facts([
    ['State', stateOf(status)],
    ['As of', moment(as_of)],
    ['Scheduled for', moment(scheduled_at, 'started by hand')],
    ['Began', moment(started_at)],
    ['Ended', moment(finished_at, 'it has not ended, or nobody saw it end')],
    ['Took', finished_at === null && status !== 'running' ? unknown('nobody saw it end') : html`${took.toFixed(1)} s`],
    [
      'Published',
      snapshot_id === null
        ? unknown('it published nothing')
        : html`<a href="/?snapshot=${encodeURIComponent(snapshot_id)}">${snapshot_id}</a>`,
    ],
  ])}</div>`;
}

async function gantt({ stages, run_id }: RunRow, now: number): Promise<Html> {
  const bars = stages.map(({ stage, status, started_at, finished_at }) => ({
    name: stage,
    from: Date.parse(started_at),
    to: finished_at === null ? (status === 'running' ? now : Date.parse(started_at)) : Date.parse(finished_at),
    failed: status === 'failed' || status === 'interrupted',
  }));
  const longest = bars.reduce((one, other) => (other.to - other.from > one.to - one.from ? other : one));
  return timeBars(
    `Stages of run ${run_id} in the order in which they ran; ${longest.name} took longest, ${((longest.to - longest.from) / 1000).toFixed(1)} s.`,
    bars,
  );
}
