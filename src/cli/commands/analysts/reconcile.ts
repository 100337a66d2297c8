import { InvalidArgumentError, type Command } from 'commander';
import { findSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { parseAmount, type Amount } from '../../../kit/text/decimal-text.ts';
import { readListMapping } from '../../../pipeline/analysis/reconcile/list-mapping.ts';
import { reconcile, type Reconciliation } from '../../../pipeline/analysis/reconcile/reconcile.ts';
import { UnreadableRowsError } from '../../../pipeline/analysis/reconcile/unreadable-rows.ts';
import { replaceFile } from '../../../kit/files/effects.ts';
import { OfferlineError, UsageError } from '../../../kit/errors/errors.ts';
import { csvLine, type CsvReader } from '../../../kit/text/csv.ts';
import { dayOption } from '../../../kit/time/moment.ts';
import { counted } from '../../../kit/text/counted.ts';
import { roundedAdvice } from '../../../kit/text/rounded-id.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import {
  addCommand,
  printAnswer,
  existingData,
  replaceableFile,
  snapshotOption,
  spreadsheetOption,
  textTable,
} from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

interface ReconcileOptions {
  site: string;
  file: string;
  mapping?: string;
  from?: string;
  to?: string;
  tolerance?: Amount;
  snapshot?: string;
  out?: string;
  spreadsheet?: boolean;
  json?: boolean;
}

/** Differences that are shown: as many as fit on a screen; --out and --json give all. */
const maxRows = 20;
/** Rows that are no rewards, and are shown. */
const maxPassed = 3;

const outColumns = [
  'difference',
  'click_id',
  'conversion_id',
  'offer_id',
  'line',
  'state_there',
  'state_here',
  'amount_there',
  'amount_here',
  'time_there',
  'time_here',
  'detail',
];

export function addReconcileCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'reconcile', "Compares a publisher's list of rewards with ours and sorts each difference")
    .requiredOption('--site <site_key>', 'site of the publisher')
    .requiredOption(
      '--file <list>',
      'CSV, .xlsx, XML or JSON with click ids; conversion ids, rewards, states and times where it has them',
    )
    .option(
      '--mapping <file>',
      'JSON with `format`, `rows` and `fields` of a mapping, where the list does not show how it is read',
    )
    .option('--from <day>', 'first UTC day to compare, such as 2026-11-01 (default: the first of the list)')
    .option('--to <day>', 'last UTC day to compare (default: the last of the list)')
    .option('--tolerance <points>', 'difference of amounts that counts as none (default: 0)', tolerance)
    .option('--snapshot <id>', snapshotOption)
    .option('--out <file>', 'CSV file that all differences are written to')
    .option('--spreadsheet', spreadsheetOption)
    .action(async ({ site, file, mapping, out, ...options }: ReconcileOptions) => {
      if (options.spreadsheet && out === undefined)
        throw new UsageError('--spreadsheet is about the CSV file of --out: name one');
      const outFile = out === undefined ? undefined : replaceableFile(out);
      const from = options.from === undefined ? undefined : dayOption(options.from, '--from');
      const to = options.to === undefined ? undefined : dayOption(options.to, '--to');
      const snapshot = await findSnapshot(existingData(), options.snapshot);
      const report = await reconcile(snapshot, {
        siteKey: site,
        file,
        mapping: mapping === undefined ? undefined : readListMapping(mapping),
        from,
        to,
        tolerance: options.tolerance ?? 0n,
        stop: stopSignal(),
      }).catch((error: unknown) => {
        if (options.json && error instanceof UnreadableRowsError)
          printAnswer(context, options, { file: error.file, unreadable: error.rows }, '');
        throw error;
      });
      if (outFile !== undefined)
        await writeDifferences(outFile, report, options.spreadsheet ? 'spreadsheet' : 'program');
      printAnswer(context, options, report, describe(report, out));
    });
}

function tolerance(text: string): Amount {
  const amount = parseAmount(text);
  if (amount === undefined || amount < 0n) throw new InvalidArgumentError('It takes a plain decimal such as 0.01.');
  return amount;
}

async function writeDifferences(file: string, { differences }: Reconciliation, reader: CsvReader): Promise<void> {
  const rows = differences.map((difference) => csvLine(outColumns, difference, reader));
  const lines = [`${outColumns.join(',')}\n`, ...rows];
  await replaceFile(file, lines.join(''), 'reconciliation').catch((error: Error) => {
    throw new OfferlineError(`${file} cannot be written: ${error.message}`, undefined, { cause: error });
  });
}

function describe(report: Reconciliation, out: string | undefined): string {
  const {
    period,
    agreed,
    outside_period: outside,
    summary,
    total,
    differences,
    columns,
    ignored_columns: ignored,
    passed_over: passed,
    notes,
    rounded_ids: rounded,
  } = report;
  const used = Object.entries(columns)
    .map(([field, name]) => `${field} = "${name}"`)
    .join(', ');
  const left = differences.length - maxRows;
  return [
    `${report.site_key}, ${report.rows} rows there, against ${report.snapshot_id}, as of ${report.as_of}`,
    `period    ${period.from === null && period.to === null ? 'all' : `${period.from ?? 'the beginning'} to ${period.to ?? 'as-of'}`}; outside of it ${outside.rows} rows there, ${outside.conversions} conversions here`,
    visibleText(`columns   ${used}${ignored.length === 0 ? '' : `; not used: ${ignored.join(', ')}`}`),
    ...passedText(passed),
    ...notes.map((note) => visibleText(`warning   ${note}`)),
    ...(rounded === 0 ? [] : [`warning   of ${counted(rounded, 'row')} ${roundedAdvice}`]),
    '',
    textTable([
      ...summary.map(({ difference, ...row }) => ({ '': difference.replace('_', ' '), ...row })),
      { '': 'agreed', count: agreed.count, there: agreed.there, here: agreed.here, balance: '' },
      { '': 'total', count: differences.length + agreed.count, ...total },
    ]),
    ...(differences.length === 0
      ? []
      : [
          '',
          textTable(
            differences
              .slice(0, maxRows)
              .map(({ difference, click_id, conversion_id, line, amount_there, amount_here, detail }) => ({
                difference,
                line,
                click_id,
                conversion_id,
                there: amount_there,
                here: amount_here,
                detail,
              })),
          ),
        ]),
    ...(left > 0 && out === undefined ? [`… and ${left} more; --out or --json gives all`] : []),
    ...(out === undefined ? [] : [`all ${differences.length} differences are in ${out}`]),
  ].join('\n');
}

/** Rows that are no rewards, by their numbers. */
function passedText(passed: Reconciliation['passed_over']): string[] {
  if (passed.length === 0) return [];
  const shown = passed.slice(0, maxPassed).map(({ line, text }) => `${line} ${text}`);
  const more = passed.length - shown.length;
  return [
    visibleText(
      `no reward ${counted(passed.length, 'row')}: ${shown.join('; ')}${more > 0 ? ` and ${more} more, by --json` : ''}`,
    ),
  ];
}
