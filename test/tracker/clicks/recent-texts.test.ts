import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RecentTexts } from '../../../src/tracker/clicks/recent-texts.ts';
import { moments } from './moments.ts';

const minute = 60_000;

it('has each text for at least so long, and never another', () => {
  fc.assert(
    fc.property(moments, (taken) => {
      const texts = new RecentTexts(minute);
      const kept: { number: number; text: string; at: number }[] = [];
      // Set back, the clock may have older texts forgotten early.
      const wasSetBack = taken.some(({ now }, index) => now < (taken[index - 1]?.now ?? 0));
      for (const { text, now } of taken) {
        kept.push({ number: texts.keep(text, now), text, at: now });
        for (const each of kept) {
          const read = texts.read(each.number);
          const mayBeGone = wasSetBack || now - each.at >= minute;
          expect([each.text, ...(mayBeGone ? [undefined] : [])]).toContain(read);
        }
      }
    }),
  );
});

it('forgets the oldest early where there is no room, and has no room at all for what is too long', () => {
  const texts = new RecentTexts(minute);
  const long = 'x'.repeat(2 ** 20);
  const numbers = Array.from({ length: 100 }, (_, index) => texts.keep(`${index} ${long}`, 1e12));
  const kept = numbers.map((number) => texts.read(number)?.split(' ')[0]);
  expect(kept.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => undefined));
  expect(kept.slice(-30)).toEqual(Array.from({ length: 30 }, (_, index) => String(70 + index)));
  expect(texts.read(texts.keep('x'.repeat(2 ** 25), 1e12))).toBeUndefined();
  expect(texts.read(numbers.at(-1) as number)).toBe(`99 ${long}`);
});
