import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RecordedConversions } from '../../../src/tracker/conversions/recorded-conversions.ts';
import { HandlerUnderTest, saying } from './handler-under-test.ts';

const day = 86_400_000;

describe('the same conversion', () => {
  it('a hundred times at once is one row, and no copy is answered before that is on the disk', async () => {
    await using test = await HandlerUnderTest.create();
    const stored = Promise.withResolvers<void>();
    test.sink.before = () => stored.promise;
    const report = { click_id: test.click(), transaction_id: 'T1', payout: '1' };
    let answered = 0;
    const answers = Array.from({ length: 100 }, async () => {
      const answer = await test.get(report);
      answered++;
      return saying(answer)[1];
    });
    await setImmediate();
    expect(answered).toBe(0);
    stored.resolve();
    const said = await Promise.all(answers);
    expect(said.filter((each) => each === 'recorded')).toHaveLength(1);
    expect(said.filter((each) => each === 'duplicate')).toHaveLength(99);
    expect(test.rows).toHaveLength(1);
    expect(test.recorded).toHaveLength(1);
  });

  it('is a duplicate whatever time and reason it gives, and a contradiction where it says something else', async () => {
    await using test = await HandlerUnderTest.create();
    const report = { click_id: test.click(), transaction_id: 'T1', payout: '1' };
    await test.get(report);
    expect(
      saying(await test.get({ ...report, payout: '1.00', occurred_at: '2026-11-18T09:00:00Z', reason: 'x' })),
    ).toEqual([200, 'duplicate']);
    expect(saying(await test.get({ ...report, payout: '2' }))).toEqual([409, 'contradiction']);
    expect(saying(await test.get({ ...report, event_id: 'level-5' }))).toEqual([409, 'contradiction']);
    expect(saying(await test.get({ ...report, click_id: test.click() }))).toEqual([409, 'contradiction']);
    expect(test.rows).toHaveLength(1);
  });

  it('is taken back for its own click only', async () => {
    await using test = await HandlerUnderTest.create();
    const report = { click_id: test.click(), transaction_id: 'T1' };
    await test.get(report);
    expect(saying(await test.get({ ...report, status: 'chargeback', click_id: test.click() }))).toEqual([
      409,
      'contradiction',
    ]);
    // The milestone may have left the catalog since: the conversion is known.
    expect(saying(await test.get({ ...report, status: 'chargeback', event_id: 'gone' }))).toEqual([200, 'recorded']);
  });

  it('contradicting itself at once waits for the first', async () => {
    await using test = await HandlerUnderTest.create();
    const report = { click_id: test.click(), transaction_id: 'T1' };
    const answers = await Promise.all([test.get({ ...report, payout: '1' }), test.get({ ...report, payout: '2' })]);
    expect(answers.map(saying)).toEqual([
      [200, 'recorded'],
      [409, 'contradiction'],
    ]);
  });

  it('is known after a restart, from the logs', async () => {
    await using test = await HandlerUnderTest.create();
    const report = { click_id: test.click(), transaction_id: 'T1', payout: '2.500000', event_id: '' };
    await test.get(report);
    await test.get({ ...report, transaction_id: 'Ü', payout: '' });
    const folder = join(test.data.landing, 'conversions', 'tracker', '2026-11-18');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'a-1-000001.ndjson'), `${test.sink.rows.join('\n')}\nno row\n{"conversion_id":1}\n`);
    await test.open();
    expect(saying(await test.get(report))).toEqual([200, 'duplicate']);
    expect(saying(await test.get({ ...report, transaction_id: 'Ü', payout: '' }))).toEqual([200, 'duplicate']);
    expect(saying(await test.get({ ...report, payout: '2.51' }))).toEqual([409, 'contradiction']);
    expect(test.rows).toHaveLength(2);
    // On the ninety-first day only the pipeline knows it.
    test.now += 91 * day;
    await test.open();
    const reject = { ...report, status: 'chargeback', payout: '2.51' };
    expect(saying(await test.get(reject))).toEqual([200, 'recorded']);
  });
});

describe('what is remembered', () => {
  const content = (number: number) =>
    ({
      conversionId: `north:${number}`,
      kind: 'credit',
      clickId: `c${number % 100}`,
      eventId: undefined,
      payout: 5n,
    }) as const;

  it('knows each of fifty thousand conversions, in 18 bytes a slot', () => {
    const recorded = new RecordedConversions();
    for (let number = 0; number < 50_000; number++) recorded.add(content(number), 20_000 + (number % 80));
    expect(recorded.size).toBe(50_000);
    expect(recorded.bytes).toBe(2 ** 17 * 18);
    for (let number = 0; number < 50_000; number += 7) {
      expect(recorded.compare(content(number), 20_080)).toBe('duplicate');
      expect(recorded.compare({ ...content(number), payout: 6n }, 20_080)).toBe('contradiction');
      expect(recorded.compare(content(number + 50_000), 20_080)).toBe('new');
    }
  });

  it('leaves after 90 days, and its room is used again', () => {
    const recorded = new RecordedConversions();
    for (let today = 20_000; today < 20_400; today++)
      for (let number = 0; number < 20; number++) recorded.add(content(today * 20 + number), today);
    expect(recorded.compare(content(20_309 * 20), 20_399)).toBe('duplicate');
    expect(recorded.compare(content(20_308 * 20), 20_399)).toBe('new');
    expect(recorded.bytes).toBe(4096 * 18);
  });

  it('is bounded: the oldest days are forgotten first', () => {
    const recorded = new RecordedConversions(4096);
    for (let today = 20_000; today < 20_050; today++)
      for (let number = 0; number < 1000; number++) recorded.add(content(today * 1000 + number), today);
    expect(recorded.bytes).toBe(4096 * 18);
    expect(recorded.compare(content(20_049_999), 20_050)).toBe('duplicate');
    expect(recorded.compare(content(20_000_000), 20_050)).toBe('new');
  });

  it('is bounded within one day, too', () => {
    const recorded = new RecordedConversions(4096);
    for (let number = 0; number < 20_000; number++) recorded.add(content(number), 20_000);
    expect(recorded.bytes).toBe(4096 * 18);
    expect(recorded.compare(content(19_999), 20_000)).toBe('duplicate');
  });

  it('has what comes after a clock was ahead, however its room grows', () => {
    const recorded = new RecordedConversions();
    for (let number = 0; number < 1000; number++) recorded.add(content(number), 20_365);
    for (let number = 1000; number < 5000; number++) {
      recorded.add(content(number), 20_000);
      expect(recorded.compare(content(number), 20_000)).toBe('duplicate');
    }
    expect(recorded.compare(content(1000), 20_000)).toBe('duplicate');
  });
});
