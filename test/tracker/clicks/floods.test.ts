import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Floods } from '../../../src/tracker/clicks/floods.ts';
import { keyOf } from '../../../src/tracker/clicks/recent-keys.ts';

const minute = 60_000;

it('counts up to 60 clicks of every minute, and says when there is room again', () => {
  const steps = fc.record({ key: fc.constantFrom('a', 'b'), passed: fc.integer({ min: 0, max: 300 }) });
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 600, size: 'max' }), (taken) => {
      const floods = new Floods();
      const counted: Record<string, number[]> = { a: [], b: [] };
      let now = 1e12;
      for (const { key, passed } of taken) {
        now += passed;
        const all = counted[key] as number[];
        const recent = all.filter((moment) => now - moment < minute);
        const expected = recent.length < 60 ? undefined : minute - (now - (recent[0] as number));
        expect(floods.count(keyOf(key), now)).toBe(expected);
        if (expected === undefined) all.push(now);
      }
    }),
  );
});

it('lets nobody wait for clicks that lie ahead of a clock that was set back', () => {
  const floods = new Floods();
  const count = (now: number, clicks: number) =>
    Array.from({ length: clicks }, () => floods.count(keyOf('a'), now)).filter((wait) => wait === undefined).length;
  expect(count(1e12, 100)).toBe(60);
  expect(count(1e12 - 1000, 100)).toBe(60);
  expect(count(1e12 - 1000 + minute, 100)).toBe(60);
});
