import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import { quoted } from '../../kit/text/sql-text.ts';
import { analyticsFile } from '../snapshot/manifest.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../kit/duckdb/open.ts';
import { figureNames } from '../sql/figures.ts';
import type { MartRow } from '../sql/run-model.ts';
import { diffTerms, type TermsDiff } from './diff-terms.ts';
import { differingPairs, type Pair } from './differing-pairs.ts';
import type { KeptSnapshot } from './kept-snapshots.ts';

interface OfferName {
  offer_id: number;
  title: string;
}

export interface SnapshotDiff extends TermsDiff {
  /** Offers active in the second snapshot only; `before` is their former status. */
  added: (OfferName & { payout: string; before: string | null })[];
  /** Offers active in the first snapshot only; `after` is their present status. */
  removed: (OfferName & { payout: string; after: string | null })[];
  /** Offers active in both, with another payout, gross USD, of the offer or a milestone. */
  repriced: (OfferName & { payout: Pair<string>; milestones: ({ event_id: string } & Pair<string>)[] })[];
  /** Offers active in both at the same prices, with another content version. */
  changed: (OfferName & { version: Pair<number> })[];
  /** Offers with figures that differ, and those figures. */
  figures: (OfferName & { moved: Record<string, Pair> })[];
}

/**
 * Compares what two snapshots publish. Throws `UsageError` where both are the same one.
 *
 * @param options Limits of the DuckDB that compares; by default its own.
 */
export async function diffSnapshots(
  before: KeptSnapshot,
  after: KeptSnapshot,
  options: Record<string, string> = {},
): Promise<SnapshotDiff> {
  if (before.folder === after.folder)
    throw new UsageError(`both are snapshot ${before.manifest.snapshot_id}; name two`);
  return withDuckDB(inMemory, options, async (connection) => {
    await attach(connection, before, 'before');
    await attach(connection, after, 'after');
    return {
      ...(await diffOffers(connection)),
      ...(await diffTerms(connection)),
      figures: await diffFigures(connection),
    };
  });
}

async function attach(connection: DuckDBConnection, { folder }: KeptSnapshot, name: string): Promise<void> {
  const file = join(folder, analyticsFile);
  try {
    await connection.run(`ATTACH ${quoted(file)} AS "${name}" (READ_ONLY)`);
  } catch (error) {
    throw new OfferlineError(`${file} cannot be opened: ${(error as Error).message}`, undefined, { cause: error });
  }
}

type OffersDiff = Omit<SnapshotDiff, keyof TermsDiff | 'figures'>;

type ComparedOffer = Pick<MartRow<'offers'>, 'status' | 'payout' | 'events' | 'version'>;

/** Offer of either snapshot; the columns of a snapshot that lacks it are null. */
type OfferPair = OfferName & {
  [column in keyof ComparedOffer as `${column}_before` | `${column}_after`]: ComparedOffer[column] | null;
};

async function diffOffers(connection: DuckDBConnection): Promise<OffersDiff> {
  const sides = ['before', 'after'].flatMap((side) =>
    ['status', 'payout', 'events', 'version'].map((column) => `${side}.${column} AS ${column}_${side}`),
  );
  const pairs = await queryRows<OfferPair>(
    connection,
    `SELECT coalesce(after.offer_id, before.offer_id) AS offer_id, coalesce(after.title, before.title) AS title, ${sides.join(', ')}
     FROM "before".offers AS before FULL JOIN "after".offers AS after ON after.offer_id = before.offer_id
     WHERE before.status IS DISTINCT FROM after.status OR before.version IS DISTINCT FROM after.version
     ORDER BY 1`,
  );
  const diff: OffersDiff = { added: [], removed: [], repriced: [], changed: [] };
  for (const { offer_id, title, ...pair } of pairs) {
    const [wasActive, isActive] = [pair.status_before === 'active', pair.status_after === 'active'];
    if (isActive && !wasActive)
      diff.added.push({ offer_id, title, payout: pair.payout_after ?? '', before: pair.status_before });
    else if (wasActive && !isActive)
      diff.removed.push({ offer_id, title, payout: pair.payout_before ?? '', after: pair.status_after });
    else if (wasActive && isActive) {
      const milestones = diffMilestones(pair.events_before, pair.events_after);
      if (pair.payout_before !== pair.payout_after || milestones.length > 0) {
        diff.repriced.push({
          offer_id,
          title,
          payout: { before: pair.payout_before, after: pair.payout_after },
          milestones,
        });
      } else {
        diff.changed.push({ offer_id, title, version: { before: pair.version_before, after: pair.version_after } });
      }
    }
  }
  return diff;
}

function diffMilestones(before: string | null, after: string | null): ({ event_id: string } & Pair<string>)[] {
  return differingPairs(payoutsOf(before), payoutsOf(after)).map(([event_id, pair]) => ({ event_id, ...pair }));
}

function payoutsOf(events: string | null): Map<string, string> {
  const list = JSON.parse(events ?? '[]') as { event_id: string; payout: string | number }[];
  return new Map(list.map(({ event_id, payout }) => [event_id, String(payout)]));
}

async function diffFigures(connection: DuckDBConnection): Promise<SnapshotDiff['figures']> {
  const figures = figureNames();
  const columns = figures.flatMap((figure) => [
    `before.${figure} AS ${figure}_before`,
    `after.${figure} AS ${figure}_after`,
  ]);
  const differs = figures.map((figure) => `before.${figure} IS DISTINCT FROM after.${figure}`).join(' OR ');
  const rows = await queryRows<Record<string, string | number | null>>(
    connection,
    `SELECT coalesce(after.offer_id, before.offer_id) AS offer_id, coalesce(new_offers.title, old_offers.title) AS title, ${columns.join(', ')}
     FROM "before".offer_stats_2d AS before FULL JOIN "after".offer_stats_2d AS after ON after.offer_id = before.offer_id
     LEFT JOIN "after".offers AS new_offers ON new_offers.offer_id = coalesce(after.offer_id, before.offer_id)
     LEFT JOIN "before".offers AS old_offers ON old_offers.offer_id = coalesce(after.offer_id, before.offer_id)
     WHERE ${differs} ORDER BY 1`,
  );
  return rows.map((row) => {
    const pairs = figures.map(
      (figure) => [figure, { before: row[`${figure}_before`] ?? null, after: row[`${figure}_after`] ?? null }] as const,
    );
    return {
      offer_id: row['offer_id'] as number,
      title: row['title'] as string,
      moved: Object.fromEntries(pairs.filter(([, { before, after }]) => before !== after)),
    };
  });
}

/** Orders offers with figures that moved, the largest change of earnings first. A double will do to order by. */
export function byChangeOfEarnings(figures: SnapshotDiff['figures']): SnapshotDiff['figures'] {
  const change = ({ moved: { earnings } }: SnapshotDiff['figures'][number]) =>
    Math.abs(Number(earnings?.after ?? 0) - Number(earnings?.before ?? 0));
  return figures.toSorted((one, other) => change(other) - change(one));
}
