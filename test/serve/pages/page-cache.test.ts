import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { heldPrefix, PageCache } from '../../../src/serve/pages/page-cache.ts';
import { pageBody, PreparedPage } from '../../../src/serve/pages/prepared-page.ts';

function page(bytes: number): PreparedPage {
  return new PreparedPage({}, pageBody(randomBytes(bytes)));
}

test('holds no more bytes than it may and drops what was unused for longest', () => {
  const cache = new PageCache(8_000);
  const [a, c] = [page(3000), page(3000)];
  cache.keep('a', a);
  cache.keep('b', page(3000));
  cache.get('a');
  cache.keep('c', c);
  expect(cache.get('b')).toBeUndefined();
  expect(cache.get('a')).toBe(a);
  expect(cache.get('c')).toBe(c);
  expect(cache.bytes).toBeLessThanOrEqual(8_000);
});

test('a page larger than the cache drives nothing out', () => {
  const cache = new PageCache(10_000);
  cache.keep('small', page(100));
  cache.keep('huge', page(20_000));
  expect(cache.get('huge')).toBeUndefined();
  expect(cache.get('small')?.bytes).toBe(100);
});

test('a short page is kept when it is asked for again, a long one at once', () => {
  const cache = new PageCache(1_000_000);
  const [first, second, long] = [page(3000), page(3000), page(300_000)];
  expect(cache.keepAskedAgain('short', first)).toBe(first);
  expect(cache.get('short')).toBeUndefined();
  expect(cache.bytes).toBeLessThan(1000);
  expect(cache.keepAskedAgain('short', second)).toBe(second);
  expect(cache.get('short')).toBe(second);
  cache.keepAskedAgain('long', long);
  expect(cache.get('long')).toBe(long);
});

test('empty pages under many keys are bounded too', () => {
  const cache = new PageCache(10_000);
  for (let offset = 0; offset < 1000; offset++) cache.keep(`offset ${offset}`, page(0));
  expect(cache.get('offset 0')).toBeUndefined();
  expect(cache.get('offset 999')?.bytes).toBe(0);
  expect(cache.bytes).toBeLessThanOrEqual(10_000);
});

test('a page that grew by a compressed form, or was replaced, weighs what it weighs now', async () => {
  const cache = new PageCache(8_000);
  // Noise stays as long as it is: with its compressed form the page weighs twice as much.
  const growing = new PreparedPage({}, pageBody(randomBytes(3000)), {
    grown: (grown) => cache.weighAgain('growing', grown),
  });
  cache.keep('other', page(3000));
  cache.keep('growing', growing);
  await growing.respond({ 'accept-encoding': 'gzip' });
  expect(growing.bytes).toBeGreaterThan(6000);
  expect(cache.get('other')).toBeUndefined();
  expect(cache.get('growing')).toBe(growing);
  const other = page(1000);
  cache.keep('growing', other);
  cache.keep('other', page(5000));
  expect(cache.get('growing')).toBe(other);
  cache.weighAgain('nothing of this name', growing);
  cache.weighAgain('growing', growing);
  expect(cache.get('growing'), 'a page that was replaced does not come back by growing').toBe(other);
  expect(cache.bytes).toBeGreaterThan(6000);
  expect(cache.bytes).toBeLessThanOrEqual(8_000);
});

test('what was made of a snapshot goes with it, what is held for a time stays', () => {
  const cache = new PageCache(8_000);
  const held = page(100);
  cache.keep(`${heldPrefix}top`, held);
  cache.keep('1 offers', page(3000));
  cache.dropAllButHeld();
  expect(cache.get('1 offers')).toBeUndefined();
  expect(cache.get(`${heldPrefix}top`)).toBe(held);
  expect(cache.bytes).toBeLessThan(1000);
});
