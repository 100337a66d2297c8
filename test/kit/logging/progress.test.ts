import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { createTerminal } from '../../../src/kit/logging/progress.ts';
import { readRunClock } from '../../../src/pipeline/runs/stage.ts';

class Output extends Writable {
  readonly isTTY: boolean;
  readonly columns = 100;
  text = '';
  constructor(isTTY: boolean) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
  }
  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk;
    done();
  }
  get lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }
}

describe('elsewhere than on a terminal', () => {
  it('log lines are JSON with a UTC time and no trace of the machine', () => {
    const output = new Output(false);
    createLogger(output).warn({ rows: 3, err: new Error('broken') }, 'quarantined');
    expect(output.lines).toHaveLength(1);
    const line = JSON.parse(output.text) as Record<string, unknown>;
    expect(line).toMatchObject({ level: 'warn', rows: 3, msg: 'quarantined', err: { message: 'broken' } });
    expect(line['time']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(line).not.toHaveProperty('hostname');
  });

  it('progress is a line at the start of a step and one at its end', () => {
    const output = new Output(false);
    const { progress } = createTerminal(output);
    progress.start('ingest', 3);
    progress.advance(1);
    progress.advance(3);
    progress.finish('3 files');
    progress.finish('again');
    expect(output.lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { msg: 'ingest', total: 3 },
      { msg: 'ingest: 3 files' },
    ]);
  });
});

describe('the progress of a long step elsewhere', () => {
  it('is logged every two seconds, so that a program can follow it', () => {
    const output = new Output(false);
    let now = 0;
    const { progress } = createTerminal(output, () => now);
    progress.start('reports', 60);
    for (let day = 1; day <= 60; day++) {
      now += 100;
      progress.advance(day);
    }
    progress.finish();
    progress.advance(61);
    progress.start('copying');
    now += 2000;
    progress.advance(5);
    const lines = output.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ msg, done, total }) => ({ msg, done, total }))).toEqual([
      { msg: 'reports', total: 60 },
      { msg: 'reports', done: 20, total: 60 },
      { msg: 'reports', done: 40, total: 60 },
      { msg: 'reports', done: 60, total: 60 },
      { msg: 'copying' },
      { msg: 'copying', done: 5 },
    ]);
  });
});

describe('on a terminal', () => {
  it('log lines are short', () => {
    const output = new Output(true);
    const logger = createLogger(output);
    logger.info('done');
    logger.warn({ file: 'a.csv', rows: 3, err: new Error('broken') }, 'quarantined');
    expect(output.lines[0]).toMatch(/^\d\d:\d\d:\d\d done$/);
    expect(output.lines[1]).toMatch(/^\d\d:\d\d:\d\d WARN quarantined {2}file=a\.csv {2}rows=3 {2}broken$/);
  });

  it('a bar shows how far a step is, keeps log lines whole and leaves its summary', () => {
    const output = new Output(true);
    const { logger, progress } = createTerminal(output);
    progress.start('ingest', 4);
    progress.advance(3);
    logger.info('one file was quarantined');
    progress.finish('4 files');
    expect(output.text).toContain('75% of 4');
    expect(output.text).toMatch(/of 4, [\d.,e+]+ a second, \d+\S* left/);
    expect(output.text).toMatch(/\d\d:\d\d:\d\d one file was quarantined\n/);
    expect(output.text).toMatch(/ingest: 4 files\n$/);
    logger.info('later');
    expect(output.text).toMatch(/later\n$/);
  });

  it('a step without a total shows a count, and a new step ends it', () => {
    const output = new Output(true);
    const { progress } = createTerminal(output);
    progress.start('reading');
    progress.advance(7);
    progress.start('writing', 1);
    progress.finish();
    expect(output.text).toContain('reading 7');
    expect(output.text).not.toContain('%%');
  });
});

describe('readRunClock', () => {
  const effects = { now: () => Date.parse('2026-11-18T10:00:00.250Z') };

  it('takes as-of from the one reading of the clock, unless it was given', () => {
    expect(readRunClock(effects)).toEqual({
      asOf: '2026-11-18T10:00:00.250000Z',
      wallClock: '2026-11-18T10:00:00.250000Z',
    });
    expect(readRunClock(effects, '2026-11-01T00:00:00Z')).toEqual({
      asOf: '2026-11-01T00:00:00Z',
      wallClock: '2026-11-18T10:00:00.250000Z',
    });
  });
});
