import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { currentManifest } from '../../pipeline/snapshot/snapshot-store.ts';
import { readAnalytics } from '../../pipeline/snapshot/read-analytics.ts';
import { quoted } from '../../kit/text/sql-text.ts';

/** An offer's figures of the window, of all its traffic. */
export interface OfferFigures {
  as_of: string | null;
  clicks: string;
  conversions: string;
  converted_clicks: string;
  earnings: string;
  epc: string;
  cvr: string;
  rank: string | null;
}

const none = {
  clicks: '0',
  conversions: '0',
  converted_clicks: '0',
  earnings: '0',
  epc: '0',
  cvr: '0',
  rank: null,
} as const;

/** Published figures of an offer; zeros where there are none. */
export async function figuresOf(data: DataDirectory, offerId: number): Promise<OfferFigures> {
  const manifest = await currentManifest(data);
  if (manifest === undefined) return { as_of: null, ...none };
  const columns = Object.keys(none).map((name) => `${name}::VARCHAR AS ${name}`);
  const [row] = await readAnalytics(data.current, (query) =>
    query<typeof none>(`SELECT ${columns.join(', ')} FROM offer_stats_2d WHERE offer_id = ${offerId}`),
  );
  return { as_of: manifest.as_of, ...(row ?? none) };
}

/** A conversion as analysts find it. */
export interface PublishedConversion {
  status: string;
  offer_id: number | null;
  site_key: string | null;
  payout: string | null;
}

/** Undefined where the conversion is in no published snapshot yet. */
export async function publishedConversion(
  data: DataDirectory,
  conversionId: string,
): Promise<PublishedConversion | undefined> {
  if ((await currentManifest(data)) === undefined) return undefined;
  const [row] = await readAnalytics(data.current, (query) =>
    query<PublishedConversion>(
      `SELECT status::VARCHAR AS status, offer_id, site_key, payout::VARCHAR AS payout
       FROM conversions WHERE conversion_id = ${quoted(conversionId)}`,
    ),
  );
  return row;
}
