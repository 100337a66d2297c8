import { ConsoleError } from '../../page/console-error.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { actionForm } from '../../html/action-form.ts';
import { figure, figureText, moment, unknown } from '../../html/figures.ts';
import { html, nothing, type Html } from '../../html/html.ts';
import { table, type Column } from '../../html/table.ts';
import type { Page, Visit } from '../../page/page.ts';
import type { FileRow } from './files.ts';
import { facts, linkTo, stateOf, textOr } from '../../html/states.ts';

type LandingFileRow = ConsoleRow<'landing_file'>;

type ReasonRow = ConsoleRow<'file_reject_reasons'>;

type RejectRow = ConsoleRow<'file_rejects'>;

type WarningRow = ConsoleRow<'file_warnings'>;

const countColumns: readonly Column<LandingFileRow>[] = [
  { name: 'rows', title: 'Rows', kind: 'number' },
  { name: 'accepted', title: '= accepted', kind: 'number' },
  { name: 'duplicates', title: '+ duplicates', kind: 'number' },
  { name: 'rejected', title: '+ rejected', kind: 'number' },
  { name: 'conflicts', title: 'Conflicts among duplicates', kind: 'number' },
  { name: 'warnings', title: 'Warnings', kind: 'number' },
  { name: 'bytes', title: 'Bytes', kind: 'number' },
];

const reasonColumns: readonly Column<ReasonRow>[] = [
  { name: 'reason', title: 'Reason' },
  { name: 'rows', title: 'Rows', kind: 'number' },
  { name: 'first_line', title: 'First line', kind: 'number' },
  { name: 'last_line', title: 'Last line', kind: 'number' },
];

const rejectColumns: readonly Column<RejectRow>[] = [
  { name: 'line', title: 'Line', kind: 'number' },
  { name: 'reason', title: 'Reason' },
  { name: 'raw_length', title: 'Characters', kind: 'number' },
  {
    name: 'begins',
    title: 'How it begins',
    show: ({ begins }) =>
      begins === null
        ? unknown('rows of logs hold addresses and browsers of people, which no page shows')
        : html`<code>${begins}</code>`,
  },
];

const warningColumns: readonly Column<WarningRow>[] = [
  { name: 'warning', title: 'Warning' },
  { name: 'field', title: 'Field', show: ({ field }) => textOr(field, 'about no field alone') },
  { name: 'rows', title: 'Rows', kind: 'number' },
];

/** What became of one landing file, and why? */
export const filePage: Page = {
  path: '/files/:id',
  async show(visit) {
    const { snapshot, path, part } = visit;
    const id = path['id'] ?? '';
    if (!/^\d{1,9}$/.test(id))
      throw new ConsoleError(400, `"${id}" is no number of a file; /files has those there are.`);
    const parameters = { file: id };
    const found = await snapshot.ask('landing_file', { parameters });
    const [file] = found.rows;
    if (file === undefined)
      throw new ConsoleError(404, `Snapshot ${snapshot.id} knows of no file ${id}; /files has those there are.`);
    const reasons = await snapshot.ask('file_reject_reasons', { parameters });
    const rejects = await snapshot.ask('file_rejects', { parameters, part });
    const warnings = await snapshot.ask('file_warnings', { parameters });
    const cut =
      rejects.total < file.rejected ? `, the first ${figureText(rejects.total)} of ${figureText(file.rejected)}` : '';
    return {
      title: `File ${id}, ${file.path}`,
      question: 'What became of this landing file, and why?',
      parts: [
        about(file),
        held(visit, file),
        table<LandingFileRow>({
          name: 'counts',
          caption: 'Rows = accepted + duplicates + rejected',
          columns: countColumns,
          ...found,
          command: `offerline sql "FROM ingest_files WHERE file_id = ${id}"`,
          empty: '',
        }),
        table<ReasonRow>({
          name: 'reasons',
          caption: 'Why rows were refused',
          columns: reasonColumns,
          ...reasons,
          empty: 'No row was refused.',
        }),
        table<RejectRow>({
          name: 'rejects',
          caption: `Refused rows${cut}`,
          columns: rejectColumns,
          ...rejects,
          command: `offerline sql "FROM rejects WHERE file_id = ${id} ORDER BY line"`,
          empty: 'No row was refused.',
        }),
        table<WarningRow>({
          name: 'warnings',
          caption: 'What was dropped, replaced or passed over',
          columns: warningColumns,
          ...warnings,
          empty: 'Nothing was.',
        }),
      ],
    };
  },
};

function about({ kind, source, status, reason, sha256, run_id, ingested_at, bytes }: LandingFileRow): Html {
  return facts([
    ['State', stateOf(status)],
    ['Why not loaded', textOr(reason, 'it was loaded')],
    ['Kind', kind],
    ['Source', textOr(source, 'logs have none')],
    ['Read by run', linkTo('runs', run_id)],
    ['Read at', moment(ingested_at)],
    ['Bytes', figure(bytes)],
    ['SHA-256', html`<code>${sha256}</code>`],
  ]);
}

/** What may be done about an export that would remove too much. */
function held({ user }: Visit, { file_id, status }: LandingFileRow): Html {
  if (status !== 'held') return nothing;
  return html`<section>
    <h2>Held</h2>
    <p>
      It would remove most of a catalog, so it waits for an operator. The preview shows which offers would go and what they
      earned; accepted, it takes effect with the next refresh, and counts as held until then.
      On the command line: <code>offerline offers accept ${file_id} --dry-run</code>
    </p>
    ${actionForm(user, { action: 'accept-export', title: 'Accept it', values: { file_id: String(file_id) } })}
  </section>`;
}
