import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shiftMoment } from '../../src/kit/time/moment.ts';
import { arbitraryDeal, landCatalog, landDealt, networkPipeline } from './dealt-logs.ts';
import { rounds } from '../support/rounds.ts';
import { slow } from '../support/slow.ts';

it('publishes nothing again for the same as-of without news, but for a later as-of or new rows', slow, async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryDeal(2), async (deal) => {
      const asOf = '2026-03-10T13:37:00Z';
      await using pipeline = await networkPipeline();
      await landCatalog(pipeline);
      await landDealt(pipeline, deal, 0);
      await pipeline.refresh(asOf);
      const once = await pipeline.snapshots();

      expect((await pipeline.refresh(asOf)).snapshotId).toBeNull();
      // The same bytes under another name are no news.
      await pipeline.landFirstLogAgain();
      const again = await pipeline.refresh(asOf);
      expect({ news: again.ingested.files, snapshotId: again.snapshotId }).toEqual({ news: 0, snapshotId: null });
      expect(await pipeline.snapshots()).toEqual(once);

      await landDealt(pipeline, deal, 1);
      const { snapshotId } = await pipeline.refresh(asOf);
      expect(snapshotId).not.toBeNull();
      const later = await pipeline.refresh(shiftMoment(asOf, 1n));
      expect(later.snapshotId).not.toBeNull();
      expect(await pipeline.snapshots()).toEqual({
        current: later.snapshotId,
        all: [...once.all.filter((name) => name !== 'current'), snapshotId, later.snapshotId, 'current'],
      });
    }),
    { seed: 510, numRuns: rounds(1, 3) },
  );
});
