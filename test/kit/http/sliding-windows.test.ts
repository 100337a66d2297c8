import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlidingWindows } from '../../../src/kit/http/sliding-windows.ts';

const length = 3_600_000;
const bucket = (limit: number, name = 'b') => ({ name, limit, length });

test('in no stretch of the length are more requests let in than the limit, and none is refused that would fit', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: length }), { maxLength: 80 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), gaps, (limit, gapsBetween) => {
      const windows = new SlidingWindows();
      const counted: number[] = [];
      let now = 1_000_000;
      for (const gap of gapsBetween) {
        now += gap;
        const within = counted.filter((at) => now - at < length);
        const { allowed, remaining, resetAt, freeAt } = windows.consume(bucket(limit), now);
        expect(allowed).toBe(within.length < limit);
        if (allowed) within.push(now);
        if (allowed) counted.push(now);
        expect(remaining).toBe(limit - within.length);
        expect(resetAt).toBe((within[0] ?? Number.NaN) + length);
        expect(freeAt).toBe(within.length < limit ? now : (within[0] ?? Number.NaN) + length);
      }
    }),
  );
});

test('a lowered limit waits until enough requests have left', () => {
  const windows = new SlidingWindows();
  for (let at = 0; at < 5; at++) windows.consume(bucket(5), at);
  expect(windows.consume(bucket(2), 5)).toEqual({
    allowed: false,
    limit: 2,
    remaining: 0,
    resetAt: length,
    freeAt: 3 + length,
  });
  expect(windows.consume(bucket(6), 5)).toMatchObject({ allowed: true, remaining: 0 });
});

test('looking does not count, and nothing counted leaves nothing to wait for', () => {
  const windows = new SlidingWindows();
  expect(windows.peek(bucket(3), 500)).toEqual({ allowed: true, limit: 3, remaining: 3, resetAt: 500, freeAt: 500 });
  expect(windows.size).toBe(0);
});

test('a clock that was far ahead and is set right again locks nobody out', () => {
  const windows = new SlidingWindows();
  windows.consume(bucket(1), 1000 * length);
  expect(windows.consume(bucket(1), 5).allowed).toBe(true);
});

test('windows that ran empty are cleared away', () => {
  const windows = new SlidingWindows();
  for (let client = 0; client < 1000; client++) windows.consume(bucket(1, `client ${client}`), client);
  expect(windows.size).toBe(1000);
  windows.consume(bucket(1), 999 + length);
  expect(windows.size).toBe(1);
});

test('bounded windows forget what was unused for longest', () => {
  const windows = new SlidingWindows({ maxWindows: 3 });
  for (const name of ['a', 'b', 'a', 'c', 'd']) windows.consume(bucket(9, name), 0);
  expect(windows.size).toBe(3);
  expect(windows.peek(bucket(9, 'a'), 0).remaining).toBe(7);
  expect(windows.peek(bucket(9, 'b'), 0).remaining).toBe(9);
});
