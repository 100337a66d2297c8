import { setImmediate as nextTurn } from 'node:timers/promises';
import pino from 'pino';
import { expect, test } from 'vitest';
import { TurnOutput } from '../../../src/kit/logging/turn-output.ts';

function logged() {
  const written: string[][] = [];
  const log = pino(
    { base: null, timestamp: false },
    new TurnOutput({
      write: (text) =>
        written.push(
          text
            .trim()
            .split('\n')
            .map((line) => String(JSON.parse(line).msg)),
        ),
    }),
  );
  return { written, log };
}

test('the lines of one turn are written together when it ends', async () => {
  const { written, log } = logged();
  log.info('one');
  log.info('two');
  expect(written).toEqual([]);
  await nextTurn();
  expect(written).toEqual([['one', 'two']]);
  log.info('three');
  await nextTurn();
  expect(written).toEqual([['one', 'two'], ['three']]);
});

test('a warning does not wait, and does not overtake', async () => {
  const { written, log } = logged();
  log.info('before');
  log.warn('now');
  expect(written).toEqual([['before', 'now']]);
  log.info('after');
  await nextTurn();
  expect(written.flat()).toEqual(['before', 'now', 'after']);
});

test('the end of the process writes what is left', () => {
  const before = new Set(process.listeners('exit'));
  const { written, log } = logged();
  log.info('last words');
  for (const listener of process.listeners('exit')) if (!before.has(listener)) listener.call(process, 0);
  expect(written).toEqual([['last words']]);
});
