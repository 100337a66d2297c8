import { expect, it } from 'vitest';
import { RepeatedFailure } from '../../../src/kit/logging/repeated-failure.ts';

it('a failure is new once, until its message changes or a try passes', () => {
  const failure = new RepeatedFailure();
  expect(failure.pass()).toBe(false);
  expect(['away', 'away', 'full', 'away'].map((message) => failure.isNew(message))).toEqual([true, false, true, true]);
  expect(failure.message).toBe('away');
  expect([failure.pass(), failure.pass(), failure.message]).toEqual([true, false, undefined]);
  expect(failure.isNew('away')).toBe(true);
});
