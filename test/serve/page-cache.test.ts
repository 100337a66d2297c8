import { expect, test } from 'vitest';
import { PageCache } from '../../src/serve/pages/page-cache.ts';

function page(bytes: number) {
  return { bytes };
}

test('holds no more bytes than it may and drops what was unused for longest', () => {
  const cache = new PageCache<{ bytes: number }>(8_000);
  cache.keep('a', page(3000));
  cache.keep('b', page(3000));
  cache.get('a');
  cache.keep('c', page(3000));
  expect(cache.get('b')).toBeUndefined();
  expect(cache.get('a')?.bytes).toBe(3000);
  expect(cache.get('c')?.bytes).toBe(3000);
  expect(cache.bytes).toBeLessThanOrEqual(8_000);
});

test('a page larger than the cache drives nothing out', () => {
  const cache = new PageCache<{ bytes: number }>(10_000);
  cache.keep('small', page(100));
  cache.keep('huge', page(20_000));
  expect(cache.get('huge')).toBeUndefined();
  expect(cache.get('small')?.bytes).toBe(100);
});

test('empty pages under many keys are bounded too', () => {
  const cache = new PageCache<{ bytes: number }>(10_000);
  for (let offset = 0; offset < 1000; offset++) cache.keep(`offset ${offset}`, page(0));
  expect(cache.get('offset 0')).toBeUndefined();
  expect(cache.get('offset 999')?.bytes).toBe(0);
  expect(cache.bytes).toBeLessThanOrEqual(10_000);
});

test('a page that grew, or was replaced, weighs what it weighs now', () => {
  const cache = new PageCache<{ bytes: number }>(8_000);
  const growing = page(1000);
  cache.keep('other', page(3000));
  cache.keep('growing', growing);
  growing.bytes = 6000;
  cache.weighAgain('growing');
  expect(cache.get('other')).toBeUndefined();
  expect(cache.get('growing')).toBe(growing);
  cache.keep('growing', page(1000));
  cache.keep('other', page(5000));
  expect(cache.get('growing')?.bytes).toBe(1000);
  cache.weighAgain('nothing of this name');
  expect(cache.bytes).toBeGreaterThan(6000);
  expect(cache.bytes).toBeLessThanOrEqual(8_000);
});
