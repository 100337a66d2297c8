import { visibleText } from '../../../kit/text/visible-text.ts';
import { fileCure } from '../../../pipeline/inspect/file-cure.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { actionForm } from '../../html/action-form.ts';
import { statusBadge } from '../../html/badges.ts';
import { codeText } from '../../html/code-text.ts';
import { dataFileWord } from '../../html/data-file.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { facts, linkTo, missing, moment, shownNumber, numberValue, textOrMissing } from '../../html/values.ts';
import { ConsoleError, type Page, type PageRequest } from '../../page/page.ts';
import { readBeginning, type FileBeginning } from '../../live/file-beginning.ts';
import { curedReason, rejectLink } from '../reference/fields.ts';
import { countColumns } from './files.ts';

type LandingFileRow = ConsoleRow<'landing_file'>;
type ReasonRow = ConsoleRow<'file_reject_reasons'>;
type RejectRow = ConsoleRow<'file_rejects'>;
type WarningRow = ConsoleRow<'file_warnings'>;

const rowColumns: readonly Column<LandingFileRow>[] = [
  ...countColumns,
  { name: 'bytes', title: 'Bytes', kind: 'number' },
];

const reasonColumns: readonly Column<ReasonRow>[] = [
  { name: 'reason', title: 'Reason, and what helps', show: ({ reason }) => curedReason(reason) },
  { name: 'rows', title: 'Rows', kind: 'number' },
  { name: 'first_line', title: 'First line', kind: 'number' },
  { name: 'last_line', title: 'Last line', kind: 'number' },
];

const rejectColumns: readonly Column<RejectRow>[] = [
  { name: 'line', title: 'Line', kind: 'number' },
  { name: 'reason', title: 'Reason', show: ({ reason }) => rejectLink(reason) },
  { name: 'raw_length', title: 'Characters', kind: 'number' },
  {
    name: 'begins',
    title: 'First characters',
    show: ({ begins }) =>
      begins === null
        ? missing('rows of logs hold IP addresses and user agents, which no page shows')
        : html`<code>${begins}</code>`,
  },
];

const warningColumns: readonly Column<WarningRow>[] = [
  { name: 'warning', title: 'Warning' },
  { name: 'field', title: 'Field', whyNone: 'not about one field' },
  { name: 'rows', title: 'Rows', kind: 'number' },
];

export const filePage: Page = {
  path: '/files/:id',
  // The first rows of a file that cannot be read are those in the landing folder.
  live: true,
  async show(request) {
    const { snapshot, path, part, data } = request;
    const id = path['id'] ?? '';
    if (!/^\d{1,9}$/.test(id))
      throw new ConsoleError(400, `"${id}" is not the number of a file; /files lists all files.`);
    const parameters = { file: id };
    const found = await snapshot.ask('landing_file', { parameters });
    const [file] = found.rows;
    if (file === undefined)
      throw new ConsoleError(404, `Snapshot ${snapshot.id} has no file ${id}; /files lists all files.`);
    const reasons = await snapshot.ask('file_reject_reasons', { parameters });
    const rejects = await snapshot.ask('file_rejects', { parameters, part });
    const warnings = await snapshot.ask('file_warnings', { parameters });
    const cut =
      rejects.total < file.rejected ? `, the first ${shownNumber(rejects.total)} of ${shownNumber(file.rejected)}` : '';
    return {
      title: `File ${id}, ${file.path}`,
      question: 'What happened to this landing file, and why?',
      parts: [
        factsOf(file),
        file.status === 'held' && held(request, file),
        file.status === 'quarantined' && quarantined(file, await readBeginning(data.landing, file)),
        file.rejected > 0 && html`<p><a href="/try-file">Try a file</a> proposes a mapping for it.</p>`,
        dataTable<LandingFileRow>({
          name: 'counts',
          caption: 'Rows = accepted + duplicates + rejected',
          columns: rowColumns,
          ...found,
          command: `offerline sql "FROM ingest_files WHERE file_id = ${id}"`,
          empty: '',
        }),
        dataTable<ReasonRow>({
          name: 'reasons',
          caption: 'Reasons of rejected rows',
          columns: reasonColumns,
          ...reasons,
          empty: 'No row was rejected.',
        }),
        dataTable<RejectRow>({
          name: 'rejects',
          caption: `Rejected rows${cut}`,
          columns: rejectColumns,
          ...rejects,
          command: `offerline sql "FROM rejects WHERE file_id = ${id} ORDER BY line"`,
          empty: 'No row was rejected.',
        }),
        dataTable<WarningRow>({
          name: 'warnings',
          caption: 'Warnings: values that were dropped, replaced or ignored',
          columns: warningColumns,
          ...warnings,
          empty: 'None.',
        }),
      ],
    };
  },
};

function factsOf({ kind, source, status, reason, sha256, run_id, ingested_at, bytes }: LandingFileRow): Html {
  return facts([
    ['State', statusBadge(status)],
    ['Why not loaded', textOrMissing(reason, 'it was loaded')],
    ['Kind', kind],
    ['Source', textOrMissing(source, 'logs have no source')],
    ['Read by run', linkTo('runs', run_id)],
    ['Read at', moment(ingested_at)],
    ['Bytes', numberValue(bytes)],
    ['SHA-256', html`<code>${sha256}</code>`],
  ]);
}

/** What helps a file that cannot be read, and its first rows. */
function quarantined({ path, reason }: LandingFileRow, beginning: FileBeginning): Html {
  const [code = ''] = (reason ?? '').split(':', 1);
  return html`<section>
    <h2>Nothing of it was loaded</h2>
    <p><a href="/fields#file-${code}"><code>${code}</code></a>: ${codeText(fileCure(code))}.</p>
    <p>
      <a href="/try-file">Try a file</a> shows what is in it and proposes a mapping; on the machine
      <span data-copy><code>offerline inspect ${visibleText(dataFileWord(`landing/${path}`))}</code></span> does.
    </p>
    <h3>Its first rows</h3>
    ${
      'why' in beginning
        ? html`<p class="empty">They cannot be shown: ${beginning.why}.</p>`
        : html`<pre class="sql" tabindex="0" aria-label="First rows"><code>${beginning.rows.join('\n')}</code></pre>
            ${beginning.masked && html`<p class="quiet">Values are shown as x: rows of logs hold addresses and agents of people.</p>`}`
    }
  </section>`;
}

/** The form that accepts an export that would remove too many offers. */
function held({ user }: PageRequest, { file_id }: LandingFileRow): Html {
  return html`<section>
    <h2>Held</h2>
    <p>
      This export would remove most of a catalog, so it waits for an operator. The preview lists the offers that would go,
      with their earnings. An accepted export takes effect with the next refresh; until then it stays held.
      On the command line: <code>offerline offers accept ${file_id} --dry-run</code>
    </p>
    ${actionForm(user, { action: 'accept-export', title: 'Accept it', values: { file_id: String(file_id) } })}
  </section>`;
}
