import type { LandingKind } from '../../../kit/vocabulary/values.ts';
import { fileCure, fileProblems } from '../../../pipeline/inspect/file-cure.ts';
import {
  fieldReference,
  leastRecords,
  rejectReasons,
  type FieldEntry,
} from '../../../pipeline/inspect/field-reference.ts';
import { rejectCure } from '../../../pipeline/inspect/reject-cure.ts';
import { Address } from '../../html/address.ts';
import { codeText } from '../../html/code-text.ts';
import { html, type Html } from '../../../kit/html/html.ts';
import { dataTable, type Column } from '../../html/table.ts';
import { missing } from '../../html/values.ts';
import type { BarePage } from '../../page/page.ts';

interface CureRow {
  reason: string;
  cure: string;
}

const kinds: readonly (readonly [kind: LandingKind, title: string, folder: string])[] = [
  ['offers', 'Offers', 'landing/offers/<source>/'],
  ['clicks', 'Clicks', 'landing/clicks/'],
  ['conversions', 'Conversions', 'landing/conversions/'],
];

const fieldColumns: readonly Column<FieldEntry>[] = [
  { name: 'name', title: 'Field', show: ({ name }) => html`<code>${name}</code>` },
  { name: 'required', title: 'Required', show: ({ required }) => (required ? html`<strong>yes</strong>` : html`no`) },
  { name: 'meaning', title: 'Says', show: ({ meaning }) => codeText(meaning) },
  { name: 'form', title: 'Takes', show: ({ form }) => codeText(form) },
  {
    name: 'examples',
    title: 'Examples',
    show: ({ examples }) => separated(examples.map((example) => html`<code>${JSON.stringify(example)}</code>`)),
  },
  {
    name: 'rejects',
    title: 'Else rejected',
    show: ({ rejects, dropped }) =>
      dropped
        ? html`dropped, with a warning`
        : rejects.length === 0
          ? missing('it is never rejected')
          : separated(rejects.map(rejectLink)),
  },
];

const cureColumns = (place: string): readonly Column<CureRow>[] => [
  { name: 'reason', title: 'Reason', show: ({ reason }) => html`<code id="${place}-${reason}">${reason}</code>` },
  { name: 'cure', title: 'What helps', show: ({ cure }) => codeText(cure) },
];

/** The reference of the fields of landing files, as `data/fields.md` has it. */
export const fieldsPage: BarePage = {
  path: '/fields',
  navigation: 'Fields',
  title: 'Fields',
  body: () => html`<h1>Fields</h1>
    <p class="question">What may offers, clicks and conversions say, in which forms, and what helps where a row or a file is not read?</p>
    <p>
      These are our own names; in a table, names of columns count whatever their case, blanks, dashes and underscores.
      A file with other names or forms needs a mapping: <a href="/try-file">Try a file</a> proposes one, and
      <code>offerline inspect FILE --write</code> writes it.
    </p>
    ${kinds.map(([kind, title, folder]) => section(kind, title, folder))}
    ${cureTable('reject', 'Rejected rows', rejectReasons(), rejectCure)}
    ${cureTable('file', 'Files that cannot be read', fileProblems, fileCure)}`,
};

/** A reason of rejected rows, which leads to what helps. */
export function rejectLink(reason: string): Html {
  return html`<a href="/fields#reject-${reason}"><code>${reason}</code></a>`;
}

/** A reason of rejected rows with what helps. */
export function curedReason(reason: string): Html {
  return html`${rejectLink(reason)}: ${codeText(rejectCure(reason))}`;
}

function section(kind: LandingKind, title: string, folder: string): Html {
  return html`${table({ name: kind, caption: title, columns: fieldColumns, rows: fieldReference()[kind], empty: '' })}
    <p>In <code>${folder}</code>. The least that a record says: <code>${JSON.stringify(leastRecords[kind])}</code></p>`;
}

function cureTable(
  place: 'reject' | 'file',
  caption: string,
  reasons: readonly string[],
  cureOf: (reason: string) => string,
): Html {
  const rows = reasons.toSorted().map((reason) => ({ reason, cure: cureOf(reason) }));
  return table({ name: `${place}-reasons`, caption, columns: cureColumns(place), rows, empty: '' });
}

function table<R extends object>(options: Parameters<typeof dataTable<R>>[0]): Html {
  return dataTable(options).markup(new Address(fieldsPage.path));
}

function separated(parts: readonly Html[]): Html {
  return html`${parts.map((part, index) => html`${index > 0 && ', '}${part}`)}`;
}
