import { expect, it } from 'vitest';
import { bothToTheirEnd } from '../../../src/kit/files/several-at-once.ts';

it('throws the first failure of two only when the other has ended', async () => {
  const later = Promise.withResolvers<string>();
  let hasEnded = false;
  const both = bothToTheirEnd(
    Promise.reject(new Error('first')),
    later.promise.finally(() => {
      hasEnded = true;
    }),
  );
  later.reject(new Error('second'));
  await expect(both).rejects.toThrow('first');
  expect(hasEnded).toBe(true);
});

it('gives what both came to', async () => {
  expect(await bothToTheirEnd(Promise.resolve(1), Promise.resolve('two'))).toEqual([1, 'two']);
});
