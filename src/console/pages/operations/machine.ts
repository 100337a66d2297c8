import { ageText, durationText } from '../../../kit/time/age.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import { describeRole } from '../../../pipeline/status/describe-machine.ts';
import type { Status } from '../../../pipeline/status/status.ts';
import { Address } from '../../html/address.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable } from '../../html/table.ts';
import { facts, missing, moment, numberValue } from '../../html/values.ts';
import type { BarePage } from '../../page/page.ts';

interface MendingCommand {
  command: string;
  does: string;
}

/** What is typed on the machine: each of these looks at, moves or rewrites the files of the warehouse itself. */
const mendingCommands: readonly MendingCommand[] = [
  { command: 'offerline doctor', does: 'checks files, disk, clocks and settings, and changes nothing' },
  { command: 'offerline doctor --deep', does: 'reads every byte of snapshots, copies and landing files, too' },
  {
    command: 'offerline doctor --repair',
    does: 'restores what is damaged from the newest good copy; what it replaces is moved to put-aside/',
  },
  { command: 'offerline run maintenance', does: 'removes old snapshots, copies and scratch, which frees room' },
  {
    command: 'offerline maintenance landing --older-than 30',
    does: 'lists landing files that no run needs any more, to be archived',
  },
  { command: 'offerline status --verbose', does: 'prints all of this page and the overview' },
];

/** What this machine does, and all that waits and is put right on the machine itself. Live, without a snapshot, too. */
export const machinePage: BarePage = {
  path: '/machine',
  navigation: 'Machine',
  title: 'Machine',
  body: ({ health: { status, checkedAt }, data }) => html`<h1>Machine</h1>
    <p class="question">
      What does this machine do with the warehouse, and what keeps it from that? Live; what waits here is put right on
      the machine itself.
    </p>
    ${
      status === undefined
        ? html`<p class="empty">The health check is running: load the page again.</p>`
        : html`${factsOf(status, checkedAt, data.root)}${ignoredFiles(status)}`
    }
    ${dataTable<MendingCommand>({
      name: 'commands',
      caption: 'Commands that look and mend',
      columns: [
        {
          name: 'command',
          title: 'Command',
          show: ({ command }) => html`<span data-copy><code>${command}</code></span>`,
        },
        { name: 'does', title: 'What it does' },
      ],
      rows: mendingCommands,
      empty: '',
    }).markup(new Address('/machine'))}`,
};

function factsOf({ schedule, landing, running, version }: Status, checkedAt: number, root: string): Html {
  const { storage, writer, role, lease_age_seconds: age, error, last_error, last_error_at } = schedule;
  const offset = schedule.clock_offset_seconds;
  const holder = role === 'writes' ? 'this machine' : writer;
  return facts([
    ['Role', describeRole(schedule)],
    ['Warehouse', running === null ? 'no run holds it' : `${running.command} holds it since ${running.since}`],
    ['Storage', storage === null ? missing('offerline.json names none') : html`<code>${storage}</code>`],
    [
      'Lease',
      storage !== null &&
        (holder === null ? missing('nobody holds it, as far as is known here') : `${visibleText(holder)} holds it`),
    ],
    ['Lease renewed', age !== null && ageText(age)],
    ['Storage now', storage !== null && (error === null ? 'answers' : visibleText(error))],
    [
      'Last error of storage',
      last_error !== null &&
        html`${visibleText(last_error)}${last_error_at !== null && html`, ${moment(last_error_at)}`}`,
    ],
    ['Clock', offset !== null && clockText(offset)],
    ['Landing folder', landing.trouble ?? 'is there'],
    ['Data directory', html`<code>${root}</code>`],
    ['Version', version],
    ['Checked', moment(new Date(checkedAt).toISOString())],
  ]);
}

function clockText(seconds: number): string {
  if (seconds === 0) return 'as that of storage';
  return `${durationText(Math.abs(seconds))} ${seconds > 0 ? 'ahead of' : 'behind'} that of storage`;
}

function ignoredFiles({ landing: { ignored, ignored_files: files } }: Status): Html | false {
  if (ignored === 0) return false;
  return html`<h2>Landing files that are not read</h2>
    <p>${numberValue(ignored)} in all${ignored > files.length && `, the first ${files.length}`}:</p>
    <ul>
      ${files.map(({ path, why }) => html`<li><code>${visibleText(path)}</code>: ${visibleText(why)}</li> `)}
    </ul>`;
}
