import type { DuckDBConnection } from '@duckdb/node-api';
import { UsageError } from '../../../kit/errors/errors.ts';
import { dayOf, type Day } from '../../../kit/time/moment.ts';
import type { KeptSnapshot } from '../kept-snapshots.ts';
import { withSnapshotDatabase } from '../snapshot-database.ts';
import { looksRounded } from '../../../kit/text/rounded-id.ts';
import { pointsText, type Amount } from '../../../kit/text/decimal-text.ts';
import { differenceKinds, sortDifferences, type Difference, type DifferenceKind } from './differences.ts';
import { match } from './match.ts';
import { claimedClicks, ourConversions } from './our-conversions.ts';
import type { ListMapping } from './list-mapping.ts';
import { readPublisherFile, type PassedRow, type PublisherReward } from './publisher-file.ts';

interface ReconcileRequest {
  siteKey: string;
  file: string;
  /** How the list is read where it does not show it. */
  mapping?: ListMapping | undefined;
  from?: Day | undefined;
  to?: Day | undefined;
  tolerance: Amount;
  /** Ends the comparison with `StoppedError`. */
  stop?: AbortSignal | undefined;
  /** Options of the DuckDB that reads the snapshot, in place of its own limits. */
  duckdb?: Readonly<Record<string, string>> | undefined;
}

/** Result of a comparison. Amounts are decimal text in the site's points; `balance` is theirs less ours. */
export interface Reconciliation {
  snapshot_id: string;
  as_of: string;
  site_key: string;
  /** UTC days, both included; by default those of the file, and all days for a file without times. */
  period: { from: Day | null; to: Day | null };
  rows: number;
  columns: Record<string, string>;
  ignored_columns: string[];
  /** Totals, remarks below the rewards, and rows that the mapping passes over. */
  passed_over: PassedRow[];
  /** Notes on what was read in one way and might have been meant in another. */
  notes: string[];
  /** Rows with an id such as 1.23457E+17, which a spreadsheet rounded. */
  rounded_ids: number;
  outside_period: { rows: number; conversions: number };
  agreed: { count: number; there: string; here: string };
  summary: { difference: DifferenceKind; count: number; there: string; here: string; balance: string }[];
  total: { there: string; here: string; balance: string };
  differences: Omit<Difference, 'due'>[];
}

/** Compares a publisher's list of rewards with what is due to the site by the snapshot. Throws `UsageError`. */
export async function reconcile(
  snapshot: KeptSnapshot,
  { siteKey, file, mapping, tolerance, stop, duckdb, ...asked }: ReconcileRequest,
): Promise<Reconciliation> {
  const list = await readPublisherFile(file, mapping);
  const { snapshot_id, as_of } = snapshot.manifest;
  const period = periodOf(list.rewards, asked);
  const compare = async (connection: DuckDBConnection) => {
    const matched = match(list.rewards, await ourConversions(connection, siteKey));
    const clicks = await claimedClicks(
      connection,
      matched.claims.map(({ clickId }) => clickId),
    );
    return sortDifferences(matched, clicks, siteKey, { ...period, tolerance, asOf: as_of });
  };
  const { differences, agreed, outside } = await withSnapshotDatabase(snapshot, compare, { stop, duckdb });
  const totals = differences.reduce(
    ({ there, here }, { due }) => ({ there: there + due.there, here: here + due.here }),
    { there: agreed.there, here: agreed.here },
  );
  return {
    snapshot_id,
    as_of,
    site_key: siteKey,
    period,
    rows: list.rewards.length,
    columns: list.columns,
    ignored_columns: list.ignored,
    passed_over: list.passedOver,
    notes: list.notes,
    rounded_ids: list.rewards.filter(
      ({ clickId, conversionId = '' }) => looksRounded(clickId) || looksRounded(conversionId),
    ).length,
    outside_period: outside,
    agreed: { count: agreed.count, ...sumTexts(agreed.there, agreed.here) },
    summary: differenceKinds.map((difference) => summaryOf(difference, differences)).filter(({ count }) => count > 0),
    total: balanceTexts(totals.there, totals.here),
    differences: differences.map(({ due: _due, ...difference }) => difference),
  };
}

/** Returns the days asked for, else those of the list, by its times. Throws `UsageError` where none is left. */
function periodOf(
  rewards: readonly PublisherReward[],
  asked: Pick<ReconcileRequest, 'from' | 'to'>,
): Reconciliation['period'] {
  const days = rewards.flatMap(({ time }) => (time === undefined ? [] : [dayOf(time)])).toSorted();
  const { from = days[0] ?? null, to = days.at(-1) ?? null } = asked;
  if (from === null || to === null || from <= to) return { from, to };
  const cure =
    asked.from === undefined || asked.to === undefined
      ? 'the day that is not given is that of the list: give both'
      : 'exchange them';
  throw new UsageError(`the first day, ${from}, is after the last, ${to}; ${cure}`);
}

function summaryOf(difference: DifferenceKind, differences: readonly Difference[]): Reconciliation['summary'][number] {
  const ofKind = differences.filter((each) => each.difference === difference);
  const sum = (side: 'there' | 'here') => ofKind.reduce((total, { due }) => total + due[side], 0n);
  return { difference, count: ofKind.length, ...balanceTexts(sum('there'), sum('here')) };
}

function sumTexts(there: Amount, here: Amount) {
  return { there: pointsText(there), here: pointsText(here) };
}

function balanceTexts(there: Amount, here: Amount) {
  return { ...sumTexts(there, here), balance: pointsText(there - here) };
}
