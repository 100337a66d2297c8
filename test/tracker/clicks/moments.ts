import fc from 'fast-check';

/** Texts that come one after the other, a few of them often, by a clock that mostly goes on and is at times set back. */
export const moments = fc
  .array(
    fc.record({
      text: fc.oneof(fc.constantFrom('a', 'b', 'ä\n', ''), fc.string({ unit: 'grapheme' })),
      passed: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
        { weight: 1, arbitrary: fc.integer({ min: -200_000, max: -1 }) },
      ),
    }),
    { maxLength: 300 },
  )
  .map((steps) => {
    let now = 1e12;
    return steps.map(({ text, passed }) => ({ text, now: (now += passed) }));
  });
