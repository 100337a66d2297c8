import { fileCure, fileProblems } from '../../pipeline/inspect/file-cure.ts';
import {
  fieldReference,
  leastRecords,
  rejectReasons,
  type FieldEntry,
} from '../../pipeline/inspect/field-reference.ts';
import { rejectCure } from '../../pipeline/inspect/reject-cure.ts';
import type { LandingKind } from '../../kit/vocabulary/values.ts';
import { maxMembers, maxRecordCharacters, maxTextCharacters } from '../../kit/vocabulary/offer-bounds.ts';
import { markdownTable } from './markdown-table.ts';

const introduction = `# Fields

Generated from the code that reads landing files by \`npm run -s generate\`: do not edit, change \`src/pipeline/inspect/field-reference.ts\`
and generate it again. A test reads each example, and each wrong value with its reason.

These are our own names. In a table, names of columns count whatever their case, blanks, dashes and underscores, and a file needs
the columns of all required fields. Files with other names or forms need a [mapping](../src/kit/intake/mapping/README.md), which
\`offerline inspect <file> --write\` proposes and writes. What a file may be: [what may land](README.md#what-may-land).

An empty cell, \`null\` and \`\\N\` are absent values. A row with a *reason* in the last column is rejected alone, and kept in \`rejects\`
with file, line and text; [cures are below](#rejected-rows). Where it says *dropped*, a value that makes no sense becomes absent, with
the warning \`bad_…\`, and the row counts.

Of an offer, a descriptive text (title, description, category, level, version of a system) counts by its first ${maxTextCharacters}
characters, and all of them together by the first ${maxRecordCharacters}, with the warning \`too_long\`; of categories and of languages the first
${maxMembers} count, with the warning \`too_many\`. An address counts whole: one of more than ${maxTextCharacters} characters makes no sense.
`;

const kinds: readonly (readonly [kind: LandingKind, title: string, text: string])[] = [
  ['offers', 'Offers', 'In `landing/offers/<source>/`, an offer a record. The least that a record says:'],
  ['clicks', 'Clicks', 'In `landing/clicks/`, a click a record. The least that a record says:'],
  [
    'conversions',
    'Conversions',
    'In `landing/conversions/`, an event of a conversion a record: a mapping by `status` makes them of lists that say how conversions stand. The least that a record says:',
  ],
];

/** The text of `data/fields.md`. */
export function fieldsReference(): string {
  const reference = fieldReference();
  const sections = kinds.map(
    ([kind, title, text]) =>
      `## ${title}\n\n${text}\n\n\`\`\`json\n${JSON.stringify(leastRecords[kind])}\n\`\`\`\n\n${markdownTable(reference[kind].map(fieldRow))}`,
  );
  return [
    introduction,
    ...sections,
    `## Rejected rows\n\nA quoted word is a key of a mapping.\n\n${cureTable(rejectReasons(), rejectCure)}`,
    `## Files that cannot be read\n\nOf such a file nothing is loaded; \`ingest_files\` has it as \`quarantined\` with the reason and a detail.\n\n${cureTable(fileProblems, fileCure)}`,
  ].join('\n');
}

function fieldRow({ name, meaning, form, required, examples, rejects, dropped }: FieldEntry): Record<string, string> {
  return {
    field: `\`${name}\``,
    required: required ? '**yes**' : '',
    says: meaning,
    takes: form,
    examples: examples.map((example) => `\`${JSON.stringify(example)}\``).join(', '),
    'else rejected': dropped ? 'dropped' : rejects.map((reason) => `\`${reason}\``).join(', '),
  };
}

function cureTable(reasons: readonly string[], cureOf: (reason: string) => string): string {
  return markdownTable(
    reasons
      .toSorted()
      .map((reason) => ({ reason: `\`${reason}\``, 'what to do': cureOf(reason).replaceAll('<', '\\<') })),
  );
}
