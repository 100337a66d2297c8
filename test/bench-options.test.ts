import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseBenchOptions } from './bench/options.ts';
import { stageSeconds } from './bench/measured-refresh.ts';
import { median, medianOf, inTurns } from './bench/rounds.ts';

describe('options of the bench', () => {
  it('measure everything on two million clicks by default', () => {
    expect(parseBenchOptions([])).toEqual({
      clicks: 2_000_000,
      days: 10,
      shortDays: 1,
      rounds: 3,
      seed: 1,
      minutes: 2,
    });
  });

  it('are read in both spellings', () => {
    expect(
      parseBenchOptions(['--clicks', '5000', '--days=4', '--rounds', '1', '--seed', '0', '--only', 'b', '--json']),
    ).toEqual({
      clicks: 5000,
      days: 4,
      shortDays: 1,
      rounds: 1,
      seed: 0,
      minutes: 2,
      only: 'b',
      json: true,
    });
  });

  it.each(['a', 'b', 'messy', 'conversions', 'served', 'serve', 'lookup', 'postbacks', 'track', 'console'] as const)(
    'can ask for %s alone',
    (only) => {
      expect(parseBenchOptions(['--only', only])).toMatchObject({ only });
    },
  );

  it('take a longer history for the console, unless another one is given', () => {
    expect(parseBenchOptions(['--only', 'console'])).toMatchObject({ clicks: 60_000_000, days: 60 });
    expect(parseBenchOptions(['--only', 'console', '--days', '3'])).toMatchObject({ clicks: 60_000_000, days: 3 });
  });

  it.each([
    [['--clicks', '2e6'], '--clicks'],
    [['--clicks', '999'], '--clicks'],
    [['--days', '1'], '--days'],
    [['--rounds', '0'], '--rounds'],
    [['--seed', '-1'], '--seed'],
    [['--only', 'c'], '--only'],
    [['--fast'], '--fast'],
    [['5000'], 'arguments'],
  ])('%j is refused, naming %s', (words, named) => {
    let told = '';
    const parse = () => parseBenchOptions(words, (text) => (told += text));
    expect(parse).toThrow(CommanderError);
    expect(parse).toThrow(named);
  });

  it('print help that names each of them', () => {
    let told = '';
    expect(() => parseBenchOptions(['--help'], (text) => (told += text))).toThrow(CommanderError);
    for (const option of ['--clicks', '--days', '--rounds', '--seed', '--minutes', '--only', '--json'])
      expect(told).toContain(option);
  });
});

describe('what the bench computes', () => {
  it('takes medians', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([7])).toBe(7);
    expect(() => median([])).toThrow('median');
    expect(medianOf([{ s: 3 }, { s: 1 }, { s: 2 }, { s: 9 }], ({ s }) => s)).toEqual({ s: 2 });
  });

  it('measures in turns, the other one first in every second round', async () => {
    const order: string[] = [];
    const measure = (name: string) => async () => order.push(name);
    const pairs = await inTurns(3, measure('refresh'), measure('copy'), () => {});
    expect(order).toEqual(['refresh', 'copy', 'copy', 'refresh', 'refresh', 'copy']);
    expect(pairs).toEqual([
      { first: 1, second: 2 },
      { first: 4, second: 3 },
      { first: 5, second: 6 },
    ]);
  });

  it('reads the seconds of each stage from the log of a run', () => {
    const logs = [
      '{"level":"info","run":1,"msg":"refresh begins"}',
      '{"level":"info","run":1,"ms":1500,"files":3,"msg":"done: ingest"}',
      'a line of something else',
      '{"level":"info","run":1,"ms":20,"msg":"done: models"}',
      '',
    ].join('\n');
    expect(stageSeconds(logs)).toEqual({ ingest: 1.5, models: 0.02 });
  });
});
