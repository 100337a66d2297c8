import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KnownWindows } from '../../../src/fleet/shared-limits/known-windows.ts';

const length = 3_600_000;
const bucket = (limit: number) => ({ name: 'b', limit, length });
const allHeard = { servers: 3, apart: 0 };

test('the parts of all servers are never more than the room that is left, whatever each knows of the others', () => {
  const moments = fc.array(fc.integer({ min: 0, max: length }), { maxLength: 30 });
  const requests = fc.array(fc.tuple(fc.nat(4), fc.integer({ min: 0, max: length / 4 })), { maxLength: 120 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 25 }),
      fc.array(fc.nat(4), { minLength: 1, maxLength: 5 }),
      moments,
      requests,
      (limit, aparts, before, asked) => {
        const servers = aparts.length;
        const known = aparts.map(() => new KnownWindows());
        // All heard of the same before Redis was lost, and no more than the limit.
        const counted = before.slice(0, limit);
        for (const windows of known)
          for (const [place, at] of counted.entries())
            windows.add(bucket(limit), { id: `r${place}`, at, alone: false }, length);
        let now = length;
        for (const [place, [server, gap]] of asked.entries()) {
          now += gap;
          const at = server % servers;
          const parts = { servers, apart: Math.min(aparts[at] ?? 0, servers - 1) };
          if (known[at]?.consume(bucket(limit), `a${place}`, now, parts).allowed === true) counted.push(now);
          expect(counted.filter((moment) => now - moment < length).length).toBeLessThanOrEqual(limit);
        }
      },
    ),
  );
});

test('of an empty window each has its part, and the rest of the division nobody', () => {
  const windows = new KnownWindows();
  const allowed = Array.from({ length: 8 }, (_, place) => windows.consume(bucket(11), `${place}`, 0, allHeard).allowed);
  expect(allowed.filter(Boolean)).toHaveLength(3);
  expect(windows.peek(bucket(11), 0, allHeard)).toEqual({
    allowed: false,
    limit: 11,
    remaining: 0,
    resetAt: length,
    freeAt: length,
  });
  expect(windows.peek(bucket(2), length, allHeard)).toMatchObject({ allowed: false, freeAt: 2 * length });
});

test('room comes back when enough of what is known has left', () => {
  const windows = new KnownWindows();
  for (let at = 0; at < 10; at++) windows.add(bucket(10), { id: `${at}`, at, alone: false }, at);
  expect(windows.peek(bucket(10), 10, allHeard)).toMatchObject({ allowed: false, freeAt: 2 + length });
  // Another limit, and others who may not have heard, are reckoned anew.
  expect(windows.peek(bucket(13), 10, allHeard)).toMatchObject({ allowed: true, remaining: 1 });
  expect(windows.peek(bucket(10), 10, { servers: 3, apart: 2 })).toMatchObject({ allowed: false, freeAt: 6 + length });
  expect(windows.peek(bucket(10), 2 + length, allHeard)).toMatchObject({ allowed: true, remaining: 1 });
});

test('a request counts once, and what was let in alone is handed over once', () => {
  const windows = new KnownWindows();
  expect(windows.add(bucket(9), { id: 'x', at: 5, alone: false }, 5)).toBe(true);
  expect(windows.add(bucket(9), { id: 'x', at: 7, alone: false }, 7)).toBe(false);
  windows.consume(bucket(9), 'y', 8, allHeard);
  windows.add(bucket(9), { id: 'z', at: 3, alone: false }, 9);
  expect(windows.requests('b', 9).map(({ id }) => id)).toEqual(['z', 'x', 'y']);
  expect([...windows.handOver(9)]).toEqual([['b', [{ id: 'y', at: 8, alone: false }]]]);
  expect([...windows.handOver(9)]).toEqual([]);
  expect(windows.requests('b', 8 + length)).toEqual([]);
});

test('windows that ran empty are cleared away, and bounded ones forget what was unused for longest', () => {
  const windows = new KnownWindows();
  for (const name of ['a', 'b']) windows.add({ name, length }, { id: name, at: 0, alone: false }, 0);
  windows.add({ name: 'c', length }, { id: 'c', at: length, alone: false }, length);
  expect([...windows.names()]).toEqual(['c']);
  const bounded = new KnownWindows({ maxWindows: 2 });
  for (const name of ['a', 'b', 'a', 'c']) bounded.consume({ ...bucket(9), name }, name, 0, allHeard);
  expect([...bounded.names()]).toEqual(['a', 'c']);
});
