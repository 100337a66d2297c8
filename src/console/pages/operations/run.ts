import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { snapshotNames } from '../../../pipeline/snapshot/snapshot-store.ts';
import { readRecentRuns } from '../../../pipeline/runs/recent-runs.ts';
import { timeBars } from '../../charts/time-bars.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { statusBadge } from '../../html/badges.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, missing, moment, secondsBetween, snapshotLink } from '../../html/values.ts';
import { ConsoleError, type Page, type PageRequest } from '../../page/page.ts';
import { fileColumns, type FileRow } from './files.ts';
import { noEnd } from './runs.ts';

type StageRow = ConsoleRow<'run_stages'>;
type Run = ConsoleRow<'run'> & { stages: readonly StageRow[] };

/** A run, with the query that returned it where the live ledger no longer has it. */
interface FoundRun {
  run: Run;
  sql: string | undefined;
}

const whyNone = 'not counted';

const stageColumns: readonly Column<StageRow>[] = [
  { name: 'stage', title: 'Stage' },
  { name: 'status', title: 'State', kind: 'status' },
  { name: 'started_at', title: 'Started', kind: 'moment' },
  { name: 'finished_at', title: 'Ended', kind: 'moment', whyNone: noEnd },
  { name: 'rows_in', title: 'Rows in', kind: 'number', whyNone },
  { name: 'rows_out', title: 'Rows out', kind: 'number', whyNone },
  { name: 'bytes', title: 'Bytes', kind: 'number', whyNone },
  { name: 'error', title: 'Error' },
];

export const runPage: Page = {
  path: '/runs/:id',
  live: true,
  async show(request) {
    const { snapshot, now } = request;
    const id = request.path['id'] ?? '';
    if (!/^\d{1,9}$/.test(id)) throw new ConsoleError(400, `"${id}" is not the number of a run; /runs lists all runs.`);
    const recent = readRecentRuns(request.data).runs.find(({ run_id }) => String(run_id) === id);
    const { run, sql } = recent === undefined ? await olderRun(request, id) : { run: recent, sql: undefined };
    const files = await snapshot.ask('files', {
      parameters: { run: id, kind: '', status: '', path: '' },
      part: request.part,
    });
    return {
      title: `Run ${id}, ${run.pipeline}`,
      question: 'What did this run do, stage by stage, and with which result?',
      parts: [
        factsOf(run, now, await published(request.data, run.snapshot_id)),
        run.error !== null && html`<h2>Error</h2><pre class="error" tabindex="0">${run.error}</pre>`,
        run.stages.length > 0 && (await stageChart(run, now)),
        dataTable<StageRow>({
          name: 'stages',
          caption: sql === undefined ? 'Stages (live)' : 'Stages',
          columns: stageColumns,
          rows: run.stages,
          sql,
          command: 'offerline runs --json',
          empty: 'The run ended before its first stage.',
        }),
        dataTable<FileRow>({
          name: 'files',
          caption: 'Files that it read',
          columns: fileColumns.map(({ sortable: _sortable, ...column }) => column),
          ...files,
          command: `offerline sql "FROM ingest_files WHERE run_id = ${id}"`,
          empty: html`Snapshot ${snapshot.id} has none: the run read no file, or no snapshot was published after it.`,
        }),
      ],
    };
  },
};

/** A run that the live ledger no longer has. */
async function olderRun({ snapshot }: PageRequest, id: string): Promise<FoundRun> {
  const { rows } = await snapshot.ask('run', { parameters: { run: id } });
  const [run] = rows;
  if (run === undefined)
    throw new ConsoleError(404, `There is no run ${id}, or retention.runs removed it; /runs lists all runs.`);
  const { rows: stages, sql } = await snapshot.ask('run_stages', { parameters: { run: id } });
  return { run: { ...run, stages }, sql };
}

/** The snapshot that a run published, with what it changed while both are kept. */
async function published(data: DataDirectory, id: string | null): Promise<Html> {
  if (id === null) return missing('it published nothing');
  const names = await snapshotNames(data);
  const place = names.indexOf(id);
  if (place < 0) return html`${id}, <span class="quiet">which is no longer kept</span>`;
  const before = names[place - 1];
  const changes = before !== undefined && html`, <a href="/snapshots/${before}/diff/${id}">what it changed</a>`;
  return html`${snapshotLink(id)}${changes}`;
}

function factsOf({ status, as_of, scheduled_at, started_at, finished_at }: Run, now: number, snapshot: Html): Html {
  const seconds = secondsBetween(started_at, finished_at ?? now);
  return html`<div ${status === 'running' && html` data-job="running"`}>${facts([
    ['State', statusBadge(status)],
    ['As of', moment(as_of)],
    ['Scheduled for', moment(scheduled_at, 'started by hand')],
    ['Started', moment(started_at)],
    ['Ended', moment(finished_at, noEnd)],
    ['Duration', finished_at === null && status !== 'running' ? missing(noEnd) : `${seconds.toFixed(1)} s`],
    ['Published', snapshot],
  ])}</div>`;
}

async function stageChart({ stages, run_id }: Run, now: number): Promise<Html> {
  const bars = stages.map(({ stage, status, started_at, finished_at }) => ({
    name: stage,
    from: Date.parse(started_at),
    to: finished_at === null ? (status === 'running' ? now : Date.parse(started_at)) : Date.parse(finished_at),
    failed: status === 'failed' || status === 'interrupted',
  }));
  const longest = bars.reduce((one, other) => (other.to - other.from > one.to - one.from ? other : one));
  const seconds = ((longest.to - longest.from) / 1000).toFixed(1);
  return timeBars(`Stages of run ${run_id} in their order; the longest is ${longest.name}, ${seconds} s.`, bars);
}
