import { expect, it, vi } from 'vitest';
import { isWatched, oncePerBurst } from '../../../src/cli/schedule/landing-watch.ts';

it('files that land together are told once, at the latest a second after the first', () => {
  vi.useFakeTimers();
  try {
    const told: number[] = [];
    const began = Date.now();
    const burst = oncePerBurst(() => told.push(Date.now() - began));
    burst.happened();
    vi.advanceTimersByTime(100);
    burst.happened();
    vi.advanceTimersByTime(500);
    expect(told).toEqual([300]);

    for (let landed = 0; landed < 30; landed++) {
      burst.happened();
      vi.advanceTimersByTime(100);
    }
    vi.advanceTimersByTime(500);
    // One each 100 ms from 600 on: nothing is quiet for long enough until 3700.
    expect(told).toEqual([300, 1600, 2600, 3600]);

    burst.happened();
    burst.stop();
    const before = told.length;
    vi.advanceTimersByTime(5000);
    expect(told).toHaveLength(before);
  } finally {
    vi.useRealTimers();
  }
});

it('looks at finished files alone, and where it watches some folders, at those and on the way to them', () => {
  const folders = ['/data/landing/clicks/tracker'];
  const seen = (path: string, within?: string[]) => isWatched(`/data/landing/${path}`, within, '2026-11-24');
  for (const path of ['clicks', 'clicks/tracker', 'clicks/tracker/2026-11-24/a.ndjson']) {
    expect([path, seen(path), seen(path, folders)]).toEqual([path, true, true]);
  }
  const elsewhere = ['offers', 'offers/north/a.json', 'clicks/a.ndjson', 'clicks/tracker-2/a.ndjson'];
  for (const path of [...elsewhere, 'clicks/tracker/2026-11-23', 'clicks/tracker/2026-11-23/a.ndjson']) {
    expect([path, seen(path), seen(path, folders)]).toEqual([path, true, false]);
  }
  for (const path of ['.tracker', 'clicks/tracker/2026-11-24/a.ndjson.part', 'clicks/_old']) {
    expect([path, seen(path), seen(path, folders)]).toEqual([path, false, false]);
  }
});
