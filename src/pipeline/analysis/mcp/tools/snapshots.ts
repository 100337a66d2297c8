import { z } from 'zod';
import { firstOf } from '../bounded-rows.ts';
import { keptSnapshots } from '../../kept-snapshots.ts';
import { defineTool } from '../tool.ts';

const maxRows = 100;

/** Moments that can be asked about. */
export const snapshotsTool = defineTool({
  name: 'snapshots',
  title: 'Kept snapshots',
  description:
    'Lists the snapshots that are kept, the newest first: each is everything as of one moment, and never changes. Their ids and times go into the `snapshot` of other tools and into `compare`.',
  input: z.strictObject({}),
  async answer(_input, { data }) {
    const { kept } = await keptSnapshots(data);
    const rows = kept.map(({ manifest: { snapshot_id, as_of, created_at, row_counts }, current }) => ({
      snapshot_id,
      as_of,
      created_at,
      current,
      offers: row_counts['offers'] ?? null,
      clicks: row_counts['clicks'] ?? null,
      conversions: row_counts['conversions'] ?? null,
    }));
    return firstOf(rows, maxRows, 'use the command `offerline snapshots`');
  },
});
