import type { Job } from '../../actions/job.ts';
import type { JobLine } from '../../actions/log-lines.ts';
import { statusBadge } from '../../html/badges.ts';
import { dataFileWord } from '../../html/data-file.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, linkTo, missing, moment, shownNumber, snapshotLink } from '../../html/values.ts';
import { ConsoleError, type Page } from '../../page/page.ts';

type JobRow = Pick<Job, 'id' | 'title' | 'user' | 'startedAt' | 'state' | 'stateText' | 'command'> & {
  ended_at: string | null;
  exit_code: number | null;
  run_id: number | null;
};

const noRun = 'it made no run, or none is known';

const jobColumns: readonly Column<JobRow>[] = [
  { name: 'startedAt', title: 'Started', kind: 'moment' },
  { name: 'title', title: 'Action', show: ({ id, title }) => linkTo('actions', id, title) },
  { name: 'user', title: 'By' },
  { name: 'state', title: 'State', kind: 'status' },
  { name: 'stateText', title: 'Meaning' },
  { name: 'exit_code', title: 'Exit code', kind: 'number' },
  { name: 'run_id', title: 'Run', kind: 'number', link: 'runs', whyNone: noRun },
  { name: 'ended_at', title: 'Ended', kind: 'moment', whyNone: 'not yet' },
  { name: 'command', title: 'Command', show: ({ command }) => html`<code>${command}</code>` },
];

const lineColumns: readonly Column<JobLine>[] = [
  { name: 'time', title: 'Time', kind: 'moment', whyNone: 'the line has none' },
  { name: 'level', title: 'Level' },
  { name: 'text', title: 'Line' },
];

export const jobsPage: Page = {
  path: '/actions',
  navigation: 'Actions',
  live: true,
  show({ jobs, part }) {
    const all = jobs.list();
    return {
      title: 'Actions',
      question:
        'Who did what in the console, and with which result? Live: the newest 500; console/actions.ndjson has all.',
      parts: [
        dataTable<JobRow>({
          name: 'actions',
          caption: 'Actions, newest first (live)',
          columns: jobColumns,
          rows: all.slice(part.first, part.first + part.rows).map(rowOf),
          total: all.length,
          first: part.first,
          command: catCommand('actions.ndjson'),
          empty: html`No action was started here yet. Operators find forms on <a href="/runs">runs</a>,
            <a href="/postbacks">postbacks</a>, <a href="/days">days</a>, <a href="/sources">sources</a> and on held
            <a href="/files?status=held">files</a>.`,
        }),
      ],
    };
  },
};

export const jobPage: Page = {
  path: '/actions/:id',
  live: true,
  async show({ jobs, path, address }) {
    const found = await jobs.find(path['id'] ?? '');
    if (found === undefined)
      throw new ConsoleError(404, 'There is no such action, or it is older than the newest 500, which /actions lists.');
    const { job, lines } = found;
    const isRunning = job.state === 'running';
    return {
      title: `${job.title}: ${job.state}`,
      question: 'How far is this action, and with which result? Live.',
      parts: [
        factsOf(job),
        isRunning && progress(lines, address.href),
        dataTable<JobLine>({
          name: 'log',
          caption: 'Log of the command (live)',
          columns: lineColumns,
          rows: lines.toReversed(),
          command: catCommand(`jobs/${job.id}.log.ndjson`),
          empty: isRunning ? 'The command has logged nothing yet.' : 'The command logged nothing.',
        }),
      ],
    };
  },
};

function factsOf({ user, startedAt, state, stateText, command, counts, end }: Job): Html {
  return facts([
    ['State', html`${statusBadge(state)}${stateText !== state && html`: ${stateText}`}`],
    ['By', user],
    ['Started', moment(startedAt)],
    ['Ended', end !== null && moment(end.at)],
    ['Preview', Object.keys(counts).length > 0 && countsOf(counts)],
    ['Result', end !== null && countsOf(end.counts)],
    ['Exit code', typeof end?.exitCode === 'number' && String(end.exitCode)],
    ['Run', typeof end?.runId === 'number' && linkTo('runs', end.runId)],
    ['Snapshot', typeof end?.snapshotId === 'string' && snapshotLink(end.snapshotId)],
    ['Error', typeof end?.error === 'string' && end.error],
    ['Command', html`<code>${command}</code>`],
  ]);
}

/** The script reloads the page while this element is there; without a script the reader uses the link. */
function progress(lines: readonly JobLine[], href: string): Html {
  const last = lines.findLast(({ done, total }) => done !== null && total !== null && total > 0);
  return html`<p data-job="running" role="status">
    ${
      last === undefined
        ? html`Running.`
        : html`<label
            >${last.text}: ${shownNumber(last.done ?? 0)} of ${shownNumber(last.total ?? 0)}
            <progress value="${last.done}" max="${last.total}"></progress
          ></label>`
    }
    <a href="${href}">Reload</a>
  </p>`;
}

/** Counts as text, such as `files: 3, bytes: 12,345`. */
export function countsOf(counts: Readonly<Record<string, number>>): Html {
  const entries = Object.entries(counts);
  if (entries.length === 0) return missing('the command reported none');
  return html`${entries.map(([name, count]) => `${name.replaceAll('_', ' ')}: ${shownNumber(count)}`).join(', ')}`;
}

/** Prints a file of the console's folder: the CLI has no command for the console's own jobs. */
function catCommand(file: string): string {
  return `cat ${dataFileWord(`console/${file}`)}`;
}

function rowOf({ id, title, user, startedAt, state, stateText, command, end }: Job): JobRow {
  return {
    id,
    title,
    user,
    startedAt,
    state,
    stateText,
    command,
    ended_at: end?.at ?? null,
    exit_code: end?.exitCode ?? null,
    run_id: end?.runId ?? null,
  };
}
