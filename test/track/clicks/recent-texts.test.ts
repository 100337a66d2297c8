import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RecentTexts } from '../../../src/track/clicks/recent-texts.ts';
import { Floods } from '../../../src/track/clicks/floods.ts';

const minute = 60_000;
/** Steps of a clock that mostly goes on and is at times set back, each with one of a few keys. */
const steps = fc.array(
  fc.record({
    key: fc.oneof(fc.constantFrom('a', 'b', 'ä\n', ''), fc.string()),
    passed: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: -200_000, max: -1 }) },
    ),
    text: fc.string({ unit: 'grapheme' }),
    isForgotten: fc.boolean(),
  }),
  { maxLength: 300 },
);

it('finds the text that a key was given last, for exactly so long, whatever the clock did', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const texts = new RecentTexts(minute);
      const given = new Map<string, { at: number; text: string }>();
      const wasSetBack = taken.some(({ passed }) => passed < 0);
      let now = 1e12;
      for (const { key, passed, text, isForgotten } of taken) {
        now += passed;
        // Set back, the clock may have an older text forgotten early; it never brings a wrong one.
        const found = texts.find(key, now);
        const last = given.get(key);
        const isDue = last !== undefined && last.at <= now && now - last.at < minute;
        const allowed = [isDue ? last : undefined, ...(wasSetBack ? [undefined] : [])];
        expect(allowed).toContainEqual(found);
        texts.add(key, { at: now, text });
        given.set(key, { at: now, text });
        if (!isForgotten) continue;
        texts.forget(key);
        given.delete(key);
      }
    }),
  );
});

it('keeps as many as come, each its own', () => {
  const texts = new RecentTexts(minute);
  for (let number = 0; number < 150_000; number++) texts.add(`key ${number}`, { at: 1e12, text: `text ${number}` });
  const wrong = Array.from({ length: 150_000 }, (_, number) => number).filter(
    (number) => texts.find(`key ${number}`, 1e12)?.text !== `text ${number}`,
  );
  expect(wrong).toEqual([]);
  expect(texts.find('key 150000', 1e12)).toBeUndefined();
});

it('counts up to 60 clicks of every minute, and says when there is room again', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ key: fc.constantFrom('a', 'b'), passed: fc.integer({ min: 0, max: 1500 }) }), {
        maxLength: 400,
      }),
      (taken) => {
        const floods = new Floods();
        const counted = new Map<string, number[]>([
          ['a', []],
          ['b', []],
        ]);
        let now = 1e12;
        for (const { key, passed } of taken) {
          now += passed;
          const all = counted.get(key) as number[];
          const recent = all.filter((moment) => now - moment < minute);
          const expected = recent.length < 60 ? undefined : minute - (now - (recent[0] as number));
          expect(floods.count(key, now)).toBe(expected);
          if (expected === undefined) all.push(now);
        }
      },
    ),
  );
});
