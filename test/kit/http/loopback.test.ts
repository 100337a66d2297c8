import { expect, test } from 'vitest';
import { isFromThisMachine } from '../../../src/kit/http/loopback.ts';

test.each([
  ['127.0.0.1', {}, true],
  ['127.9.9.9', {}, true],
  ['::1', {}, true],
  ['::ffff:127.0.0.1', {}, true],
  ['10.1.2.3', {}, false],
  ['203.0.113.9', {}, false],
  [undefined, {}, false],
  ['127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, false],
  ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, false],
  ['127.0.0.1', { 'x-forwarded-for': '' }, false],
])('whether %s with %j asks from this machine, by no proxy: %s', (address, headers, is) => {
  expect(isFromThisMachine(headers, address)).toBe(is);
});
