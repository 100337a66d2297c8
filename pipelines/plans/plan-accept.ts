import { readSettings } from '../../src/kit/config/settings.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { heldExport, type WaitingExport } from '../../src/pipeline/ingest/catalog/catalog-holds.ts';
import { previewHeldExport, type RemovedOffer } from '../../src/pipeline/ingest/preview-held-export.ts';
import { currentManifest } from '../../src/pipeline/snapshot/snapshot-store.ts';
import { readAnalytics } from '../../src/pipeline/snapshot/read-analytics.ts';
import { decimalOf, decimalText, roundedUnits, type Decimal } from '../../src/kit/text/decimal-text.ts';
import type { Moment } from '../../src/kit/time/moment.ts';
import type { RunRequest } from '../run-pipeline.ts';
import { withWarehouse } from '../with-warehouse.ts';

/** Effect of accepting a held export. */
export interface AcceptPlan {
  held: WaitingExport;
  /** Number of active offers that it removes, and that the source has. */
  removes: number;
  active: number;
  /** As-of of the published snapshot that the figures are from; null while nothing is published. */
  as_of: Moment | null;
  /** Gross USD of the window, of all removed offers. */
  earnings: string;
  /** Removed offers, paused ones too, by earnings. */
  offers: RemovedFigures[];
}

interface RemovedFigures {
  offer_id: number;
  external_id: string;
  status: string;
  title: string | null;
  clicks: number;
  conversions: number;
  earnings: string;
}

/**
 * Returns the offers that a held export would remove, with their figures of the window. Changes nothing. Throws
 * `UsageError` where the file is not held, or no longer there.
 */
export async function planAccept(
  { data, terminal }: Pick<RunRequest, 'data' | 'terminal'>,
  fileId: number,
): Promise<AcceptPlan> {
  const settings = readSettings(data);
  const { held, removed, active } = await withWarehouse(
    { command: 'offers accept --dry-run', data, terminal, settings, isPreview: true },
    async ({ connection }) => {
      const found = await heldExport(connection, fileId);
      const reading = { data, settings, wallClock: new Date(realEffects.now()) };
      return { held: found, ...(await previewHeldExport(connection, found, reading)) };
    },
  );
  const published = await currentManifest(data);
  const figures = published === undefined ? [] : await figuresOf(data.current, removed);
  const newer = new Map(removed.map((offer) => [offer.offerId, offer]));
  for (const { offer_id } of figures) newer.delete(offer_id);
  return {
    held,
    removes: removed.filter(({ status }) => status === 'active').length,
    active,
    as_of: published?.as_of ?? null,
    earnings: decimalText(sumOf(figures)),
    offers: [...figures, ...[...newer.values()].map(withoutFigures)],
  };
}

/** Returns the removed offers that the snapshot has, by earnings. */
function figuresOf(folder: string, removed: readonly RemovedOffer[]): Promise<RemovedFigures[]> {
  const ids = removed.map(({ offerId }) => offerId).join(', ');
  const statuses = new Map(removed.map(({ offerId, status }) => [offerId, status]));
  return readAnalytics(folder, async (query) => {
    const rows = await query<Omit<RemovedFigures, 'status'>>(
      `SELECT offer_id, external_id, title, coalesce(clicks, 0) AS clicks, coalesce(conversions, 0) AS conversions,
         coalesce(earnings, 0)::DECIMAL(24, 6) AS earnings
       FROM offers LEFT JOIN offer_stats_2d USING (offer_id)
       WHERE offer_id IN (SELECT unnest([${ids}]::INTEGER[])) ORDER BY earnings DESC, clicks DESC, offer_id`,
    );
    return rows.map((row) => ({ ...row, status: statuses.get(row.offer_id) ?? '' }));
  });
}

/** Returns an offer that is newer than the snapshot. */
function withoutFigures({ offerId, externalId, status }: RemovedOffer): RemovedFigures {
  const none = { title: null, clicks: 0, conversions: 0, earnings: '0' };
  return { offer_id: offerId, external_id: externalId, status, ...none };
}

function sumOf(figures: readonly RemovedFigures[]): Decimal {
  const places = 6;
  const units = figures.reduce((sum, { earnings }) => sum + roundedUnits(decimalOf(earnings), places), 0n);
  return { units, places };
}
