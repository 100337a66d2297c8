import { expect, test } from 'vitest';
import { PageCache } from '../../src/serve/page-cache.ts';

function page(bytes: number) {
  return { status: 200, headers: {}, body: Buffer.alloc(bytes) };
}

test('holds no more bytes than it may and drops what was unused for longest', () => {
  const cache = new PageCache(8_000);
  cache.keep('a', page(3000));
  cache.keep('b', page(3000));
  cache.get('a');
  cache.keep('c', page(3000));
  expect(cache.get('b')).toBeUndefined();
  expect(cache.get('a')?.body.length).toBe(3000);
  expect(cache.get('c')?.body.length).toBe(3000);
  expect(cache.bytes).toBeLessThanOrEqual(8_000);
});

test('a page larger than the cache drives nothing out', () => {
  const cache = new PageCache(10_000);
  cache.keep('small', page(100));
  cache.keep('huge', page(20_000));
  expect(cache.get('huge')).toBeUndefined();
  expect(cache.get('small')?.body.length).toBe(100);
});

test('empty pages under many keys are bounded too', () => {
  const cache = new PageCache(10_000);
  for (let offset = 0; offset < 1000; offset++) cache.keep(`offset ${offset}`, page(0));
  expect(cache.get('offset 0')).toBeUndefined();
  expect(cache.get('offset 999')?.status).toBe(200);
  expect(cache.bytes).toBeLessThanOrEqual(10_000);
});
