import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ClickRateLimit } from '../../../src/tracker/clicks/click-rate-limit.ts';

const minute = 60_000;

it('counts up to 60 clicks of every minute, and says when there is room again', () => {
  const steps = fc.record({ site: fc.constantFrom('a', 'b'), passed: fc.integer({ min: 0, max: 300 }) });
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 600, size: 'max' }), (taken) => {
      const limit = new ClickRateLimit();
      const counted: Record<string, number[]> = { a: [], b: [] };
      let now = 1e12;
      for (const { site, passed } of taken) {
        now += passed;
        const all = counted[site] as number[];
        const recent = all.filter((moment) => now - moment < minute);
        const expected = recent.length < 60 ? undefined : minute - (now - (recent[0] as number));
        expect(limit.count(site, '192.0.2.1', now)).toBe(expected);
        if (expected === undefined) all.push(now);
      }
    }),
  );
});

it('lets nobody wait for clicks that lie ahead of a clock that was set back', () => {
  const limit = new ClickRateLimit();
  const count = (now: number, clicks: number) =>
    Array.from({ length: clicks }, () => limit.count('a', '192.0.2.1', now)).filter((wait) => wait === undefined)
      .length;
  expect(count(1e12, 100)).toBe(60);
  expect(count(1e12 - 1000, 100)).toBe(60);
  expect(count(1e12 - 1000 + minute, 100)).toBe(60);
});
