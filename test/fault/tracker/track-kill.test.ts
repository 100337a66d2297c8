import { expect, it } from 'vitest';
import { killTracker } from './killed-tracker.ts';
import { slow } from '../../support/slow.ts';

// A few: `npm run test:track` kills as many as its options say.
it('every answered click and conversion is one row, whenever the tracker is killed', slow, async () => {
  const { killed, answered, hits, wrong } = await killTracker(23, 8);
  expect(wrong).toEqual([]);
  expect(killed).toBe(8);
  expect(answered).toBeGreaterThan(100);
  expect(Object.keys(hits).length).toBeGreaterThan(3);
});
