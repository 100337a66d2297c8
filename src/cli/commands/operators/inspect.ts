import { Option, type Command } from 'commander';
import { DataDirectory } from '../../../kit/config/data-directory.ts';
import { readSettings } from '../../../kit/config/settings.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { exitCode } from '../../../kit/errors/errors.ts';
import { counted } from '../../../kit/text/counted.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import { landingKinds, type LandingKind } from '../../../kit/vocabulary/values.ts';
import { inspectFile } from '../../../pipeline/inspect/inspect.ts';
import type { Inspection } from '../../../pipeline/inspect/inspection.ts';
import { missingCure } from '../../../pipeline/inspect/reject-cure.ts';
import { writeMapping } from '../../../pipeline/inspect/write-mapping.ts';
import { addCommand, existingData, printAnswer, textTable, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

interface InspectOptions {
  as?: LandingKind;
  rows: number;
  encoding?: string;
  delimiter?: string;
  records?: string;
  header?: number;
  sheet?: string;
  match?: string;
  maxUnpacked?: number;
  write?: boolean;
  json?: boolean;
}

/** Places that are shown; --json has all. */
const maxPlaces = 40;

export function addInspectCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'inspect <file>',
    'Reads a file without loading it: what it is, a mapping for it, and what would become of its first rows',
    'A mapping is proposed by names and values that exports are known to have; look at its doubts. Exits 1 where the file cannot be read so, or lacks a field.',
  )
    .addOption(new Option('--as <kind>', 'what its records are').choices(landingKinds))
    .option('--rows <number>', 'records that are tried', wholeNumber(1, 100_000), 100)
    .option('--encoding <name>', 'encoding of its text, such as windows-1252')
    .option('--delimiter <character>', 'character between its cells')
    .option('--records <place>', 'place of the records in a document, such as data.items')
    .option('--header <row>', 'row that holds the names of its columns', wholeNumber(1, 1000))
    .option('--sheet <name>', 'sheet of a workbook')
    .option(
      '--max-unpacked <megabytes>',
      'megabytes that a packed file or a document may come to (default: unpacked_gigabytes of offerline.json)',
      wholeNumber(1, 1_000_000),
    )
    .option('--match <glob>', 'files that the mapping is for (default: those of the folder)')
    .option('--write', 'add the proposed mapping to offerline.json')
    .action(async (file: string, { as, rows, match, maxUnpacked, ...options }: InspectOptions) => {
      // A newcomer has a file before a data directory.
      const data = options.write ? existingData() : DataDirectory.fromEnvironment();
      const { encoding, delimiter, records, header, sheet } = options;
      const given = Object.entries({ encoding, delimiter, records, header, sheet }).filter(
        ([, value]) => value !== undefined,
      );
      const format = given.length === 0 ? undefined : Object.fromEntries(given);
      const request = { file, as, rows, format, stop: stopSignal() };
      const settings = readSettings(data);
      const unpacked_gigabytes = Math.min(settings.unpacked_gigabytes, (maxUnpacked ?? Infinity) / 1000);
      const inspection = await inspectFile(data, { ...settings, unpacked_gigabytes }, request, Date.now());
      const written = inspection.written && { ...inspection.written, ...(match !== undefined && { match }) };
      if (options.write) await writeMapping(data, proposed(inspection, written), inspection.path ?? undefined);
      const answer = { ...inspection, written, is_written: options.write === true };
      printAnswer(context, options, answer, describe({ ...inspection, written }, options.write === true));
      if (inspection.problem !== null || inspection.missing.length > 0) process.exitCode = exitCode.failed;
    });
}

/** Throws `UsageError` where there is nothing to write, or what is there would reject every record. */
function proposed(
  { file, mapping_is, missing, problem }: Inspection,
  written: Inspection['written'],
): Record<string, unknown> {
  if (problem !== null)
    throw new UsageError(`nothing is written: ${file} cannot be read (${problem.reason}: ${problem.detail})`);
  if (written === null)
    throw new UsageError(
      mapping_is === 'configured'
        ? `nothing is written: offerline.json has a mapping for ${file} already`
        : `nothing is written: ${file} needs no mapping`,
    );
  const [first] = missing;
  if (first !== undefined)
    throw new UsageError(
      `nothing is written: no column looks like ${missing.join(', nor like ')}. Copy the mapping that \`offerline inspect\` shows without --write into "files" of offerline.json and complete it there: ${missingCure(first)}`,
    );
  if (String(written['match']).includes('NAME'))
    throw new UsageError(
      'nothing is written: say by --match which files of the landing folder it is for, such as clicks/partner/**',
    );
  return written;
}

function describe(inspection: Inspection, isWritten: boolean): string {
  const { file, format, bytes, problem, kind, records, places, written, missing, doubts, seen } = inspection;
  const head = [
    visibleText(
      `${file}: ${format}, ${counted(bytes, 'byte')}, ${counted(records, 'record')}${kind === null ? '' : `, read as ${kind}`}`,
    ),
    ...(problem === null ? [] : ['', visibleText(`It cannot be read as it is: ${problem.reason}: ${problem.detail}`)]),
  ];
  const columns = places.slice(0, maxPlaces).map(({ place, filled, examples }) => ({
    column: place,
    filled: `${Math.floor(filled * 100)}%`,
    examples: examples.join(' | '),
  }));
  const notes = [
    ...missing.map((field) => `missing: ${field}: ${missingCure(field)}`),
    ...doubts.map((doubt) => `look at this: ${doubt}`),
  ];
  return [
    ...head,
    ...(columns.length === 0 ? [] : ['', textTable(columns)]),
    ...(places.length > maxPlaces ? [`and ${places.length - maxPlaces} more, by --json`] : []),
    ...mappingText(inspection, written),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => visibleText(note))]),
    ...(Object.keys(seen).length === 0
      ? []
      : ['', ...Object.entries(seen).map(([field, where]) => visibleText(`${field} is ${where}`))]),
    ...triedText(inspection),
    ...(isWritten ? ['', 'written to offerline.json: the next refresh reads these files by it'] : []),
  ].join('\n');
}

function mappingText({ mapping_is }: Inspection, written: Inspection['written']): string[] {
  if (mapping_is === 'configured') return ['', 'offerline.json has a mapping for it'];
  if (mapping_is === 'none') return ['', 'its records are in our own fields: no mapping is needed'];
  return written === null
    ? []
    : [
        '',
        'a mapping for it, as "files" of offerline.json would have it:',
        ...JSON.stringify(written, null, 2)
          .split('\n')
          .map((line) => visibleText(line)),
      ];
}

function triedText({ tried, rows, rejects, passed_over }: Inspection): string[] {
  if (tried === 0 && passed_over === 0) return [];
  const rejected = rejects.reduce((sum, { rows: count }) => sum + count, 0);
  return [
    '',
    `of the first ${counted(tried, 'record')} ${rejected} would be rejected${passed_over === 0 ? '' : `; the mapping passes ${passed_over} of all over`}`,
    ...rejects.flatMap(({ reason, rows: count, line, raw, cure }) => [
      visibleText(`  ${reason}: ${count}, the first in row ${line}: ${raw}`),
      `    ${cure}`,
    ]),
    ...(rows.length === 0
      ? []
      : ['the first as they would be:', ...rows.map((row) => visibleText(`  ${JSON.stringify(row)}`))]),
  ];
}
