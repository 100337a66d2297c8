import { z } from 'zod';
import { byChangeOfEarnings, diffSnapshots } from '../../diff.ts';
import { findSnapshot } from '../../kept-snapshots.ts';
import { firstOf } from '../bounded-rows.ts';
import { defineTool, snapshotParameter } from '../tool.ts';

const maxRows = 200;

/** What changed between two moments. */
export const compareTool = defineTool({
  name: 'compare',
  title: 'Two moments compared',
  description:
    'Compares two kept snapshots: offers added, removed, re-priced and changed otherwise, commissions and rules of sites, and the figures that moved, the largest change of earnings first. ' +
    'Each figure is of two days up to its snapshot. For days within one snapshot query offer_daily or site_daily.',
  input: z.strictObject({
    before: z.string().min(1).max(200).describe('The earlier snapshot: its id, the beginning of it, or a moment'),
    snapshot: snapshotParameter.describe('The later one, in the same way. Default: the current one.'),
    max_rows: z.int().min(1).max(maxRows).default(20).describe(`Rows of each part, at most ${maxRows}`),
  }),
  async answer({ before, max_rows }, { data, kept, duckdb }) {
    const earlier = await findSnapshot(data, before);
    const diff = await diffSnapshots(earlier, kept, duckdb);
    const { snapshot_id, as_of } = earlier.manifest;
    const part = (rows: readonly object[]) => firstOf(rows, max_rows, 'raise max_rows, or use `offerline diff --json`');
    return {
      before: { snapshot_id, as_of },
      added: part(diff.added),
      removed: part(diff.removed),
      repriced: part(diff.repriced),
      changed: part(diff.changed),
      commissions: part(diff.commissions),
      rules: part(diff.rules),
      figures_moved: part(byChangeOfEarnings(diff.figures)),
    };
  },
});
