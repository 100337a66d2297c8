import type { Job } from '../../actions/job.ts';
import type { JobLine } from '../../actions/log-lines.ts';
import { ConsoleError } from '../../page/console-error.ts';
import { figureText, moment, unknown } from '../../html/figures.ts';
import { html, nothing, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page } from '../../page/page.ts';
import { facts, linkTo, stateOf, textOr } from '../../html/states.ts';

type JobRow = Pick<Job, 'id' | 'title' | 'user' | 'startedAt' | 'state' | 'said' | 'command'> & {
  ended_at: string | null;
  exit_code: number | null;
  run_id: number | null;
};

const jobColumns: readonly Column<JobRow>[] = [
  { name: 'startedAt', title: 'Begun', show: ({ startedAt }) => moment(startedAt) },
  { name: 'title', title: 'Action', show: ({ id, title }) => linkTo('actions', id, title) },
  { name: 'user', title: 'By' },
  { name: 'state', title: 'State', show: ({ state }) => stateOf(state) },
  { name: 'said', title: 'That means' },
  {
    name: 'exit_code',
    title: 'Exit code',
    kind: 'number',
    show: ({ exit_code }) => numberOr(exit_code, 'none is known'),
  },
  {
    name: 'run_id',
    title: 'Run',
    kind: 'number',
    show: ({ run_id }) => runOf(run_id),
  },
  { name: 'ended_at', title: 'Ended', show: ({ ended_at }) => moment(ended_at) },
  { name: 'command', title: 'Command', show: ({ command }) => html`<code>${command}</code>` },
];

const lineColumns: readonly Column<JobLine>[] = [
  { name: 'time', title: 'Time', show: ({ time }) => moment(time, 'the line has none') },
  { name: 'level', title: 'Level' },
  { name: 'text', title: 'Line' },
];

/** Who did what from the console? */
export const jobsPage: Page = {
  path: '/actions',
  navigation: 'Actions',
  live: true,
  async show({ jobs, part }) {
    const all = jobs.list();
    return {
      title: 'Actions',
      question:
        'Who did what from the console, and what came of it? Live: the newest 500; console/actions.ndjson has all.',
      parts: [
        table<JobRow>({
          name: 'actions',
          caption: 'Actions, the newest first (live)',
          columns: jobColumns,
          rows: all.slice(part.first, part.first + part.rows).map(rowOf),
          total: all.length,
          first: part.first,
          command: inFolder('actions.ndjson'),
          empty: html`Nobody has begun anything from here. Operators find forms on <a href="/runs">runs</a>,
            <a href="/postbacks">postbacks</a>, <a href="/days">days</a>, <a href="/sources">sources</a> and on held
            <a href="/files?status=held">files</a>.`,
        }),
      ],
    };
  },
};

/** How far is it, or what came of it? */
export const jobPage: Page = {
  path: '/actions/:id',
  live: true,
  async show({ jobs, path, address }) {
    const found = await jobs.find(path['id'] ?? '');
    if (found === undefined)
      throw new ConsoleError(404, 'There is no such action, or it is older than the newest 500; /actions has those.');
    const { job, lines } = found;
    return {
      title: `${job.title}: ${job.state === 'running' ? 'under way' : job.state}`,
      question: 'How far is it, and what came of it? Live.',
      parts: [
        about(job),
        job.state === 'running' ? progress(lines, address.href) : nothing,
        table<JobLine>({
          name: 'log',
          caption: 'What the command told (live)',
          columns: lineColumns,
          rows: lines.toReversed(),
          command: inFolder(`jobs/${job.id}.log.ndjson`),
          empty: job.state === 'running' ? 'It has told nothing yet.' : 'It told nothing.',
        }),
      ],
    };
  },
};

function about({ user, startedAt, state, said, command, counts, end }: Job): Html {
  return facts([
    ['State', html`${stateOf(state)}${said !== state && html`: ${said}`}`],
    ['By', user],
    ['Begun', moment(startedAt)],
    ['Ended', moment(end?.at ?? null)],
    ['Preview said', countsOf(counts)],
    ['Done', end === null ? unknown('not known yet') : countsOf(end.counts)],
    ['Exit code', numberOr(end?.exitCode ?? null, 'none is known')],
    ['Run', runOf(end?.runId ?? null)],
    ['Snapshot', textOr(end?.snapshotId ?? null, 'it published none')],
    ['Error', textOr(end?.error ?? null, 'none')],
    ['Command', html`<code>${command}</code>`],
  ]);
}

/** The script shows the page anew while it is there; without it the link does. */
function progress(lines: readonly JobLine[], href: string): Html {
  const last = lines.findLast(({ done, total }) => done !== null && total !== null && total > 0);
  return html`<p data-job="running" role="status">
    ${
      last === undefined
        ? html`Under way.`
        : html`<label
            >${last.text}: ${figureText(last.done ?? 0)} of ${figureText(last.total ?? 0)}
            <progress value="${last.done}" max="${last.total}"></progress
          ></label>`
    }
    <a href="${href}">Look again</a>
  </p>`;
}

/** Such as `files: 3, bytes: 12,345`. */
export function countsOf(counts: Readonly<Record<string, number>>): Html {
  const entries = Object.entries(counts);
  if (entries.length === 0) return unknown('the command told none');
  return html`${entries.map(([name, count]) => `${name.replaceAll('_', ' ')}: ${figureText(count)}`).join(', ')}`;
}

/** Shows a file of the console's folder: no command of ours tells what it began itself. */
function inFolder(file: string): string {
  return `cat "\${OFFERLINE_DATA:-data/var}/console/${file}"`;
}

function numberOr(value: number | null, why: string): Html {
  return value === null ? unknown(why) : html`${value}`;
}

function runOf(run: number | null): Html {
  return run === null ? unknown('it made none, or none is known') : linkTo('runs', run);
}

function rowOf({ id, title, user, startedAt, state, said, command, end }: Job): JobRow {
  return {
    id,
    title,
    user,
    startedAt,
    state,
    said,
    command,
    ended_at: end?.at ?? null,
    exit_code: end?.exitCode ?? null,
    run_id: end?.runId ?? null,
  };
}
