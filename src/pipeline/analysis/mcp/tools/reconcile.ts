import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { OfferlineError, UsageError } from '../../../../kit/errors/errors.ts';
import { parseAmount } from '../../../../kit/text/decimal-text.ts';
import { dayOption } from '../../../../kit/time/moment.ts';
import { firstOf } from '../bounded-rows.ts';
import { parseListMapping } from '../../reconcile/list-mapping.ts';
import { reconcile } from '../../reconcile/reconcile.ts';
import { defineTool, snapshotParameter, type AskedSnapshot } from '../tool.ts';

/** Characters of a list; a longer one is for the command, which reads files. */
const maxList = 1_000_000;
const maxRows = 200;
const maxPassed = 20;

const input = z.strictObject({
  site_key: z.string().min(1).max(200).describe('Site of the publisher'),
  list: z
    .string()
    .min(1)
    .max(maxList)
    .describe(
      'The list itself, as text: CSV with a header, JSON or XML, with a column for the click id and, where there are any, for conversion id, reward, state and time',
    ),
  from: z.string().optional().describe('First UTC day to compare, such as 2026-11-01. Default: the first of the list'),
  to: z.string().optional().describe('Last UTC day to compare. Default: the last of the list'),
  tolerance: z.string().default('0').describe("Difference of amounts that counts as none, in the site's points"),
  mapping: z
    .string()
    .max(20_000)
    .optional()
    .describe('JSON with format, rows and fields of a mapping, where the list does not show how it is read'),
  max_rows: z.int().min(1).max(maxRows).default(50).describe(`Differences to list, at most ${maxRows}`),
  snapshot: snapshotParameter,
});

/** A publisher's list compared with ours. It comes as text: an assistant names no file of this machine. */
export const reconcileTool = defineTool({
  name: 'reconcile',
  title: "A publisher's list of rewards compared with ours",
  description:
    "Compares a publisher's list of rewards with what is due to its site and sorts every difference: missing_there, missing_here, amount, state, duplicate, late, unknown_click. " +
    "Amounts are in the site's points, after commission. Give the text of the list; a file is for the command `offerline reconcile`.",
  input,
  async answer(asked, snapshot) {
    const folder = await mkdtemp(join(tmpdir(), 'offerline-list-'));
    const file = join(folder, 'list');
    try {
      await writeFile(file, asked.list, { mode: 0o600 });
      return await compared(file, asked, snapshot);
    } catch (error) {
      if (!(error instanceof OfferlineError)) throw error;
      throw new UsageError(error.message.replaceAll(file, 'the list').replaceAll('--mapping', '`mapping`'), {
        cause: error,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

async function compared(
  file: string,
  { site_key, from, to, tolerance, mapping, max_rows }: z.output<typeof input>,
  { kept, stop, duckdb }: AskedSnapshot,
): Promise<object> {
  const amount = parseAmount(tolerance);
  if (amount === undefined || amount < 0n)
    throw new UsageError(`tolerance "${tolerance}" is not a plain decimal such as 0.01`);
  const report = await reconcile(kept, {
    siteKey: site_key,
    file,
    mapping: mapping === undefined ? undefined : parseListMapping(mapping, 'mapping'),
    from: from === undefined ? undefined : dayOption(from, 'from'),
    to: to === undefined ? undefined : dayOption(to, 'to'),
    tolerance: amount,
    stop,
    duckdb,
  });
  const { snapshot_id: _id, as_of: _asOf, differences, passed_over, ...rest } = report;
  return {
    ...rest,
    passed_over: firstOf(passed_over, maxPassed, 'use the command `offerline reconcile --json`'),
    differences: firstOf(differences, max_rows, 'raise max_rows, or use the command `offerline reconcile --out`'),
  };
}
