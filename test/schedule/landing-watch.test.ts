import { expect, it, vi } from 'vitest';
import { oncePerBurst } from '../../src/schedule/landing-watch.ts';

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
