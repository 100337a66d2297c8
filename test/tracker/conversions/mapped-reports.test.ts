import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readPostbackSecrets, type PostbackSettings } from '../../../src/sources/config/postback-settings.ts';
import { readSources } from '../../../src/sources/config/sources-file.ts';
import { guardedReport, reportParameters } from '../../../src/tracker/conversions/guard/guarded-report.ts';
import { HandlerUnderTest, saying, token } from './handler-under-test.ts';

const fields = {
  click_id: { at: ['aff_sub', 'data.sub'], trim: true },
  transaction_id: 'tid',
  event_id: { at: 'goal', words: { install: '', 'Level 5': 'level-5' } },
  status: { at: 'state', words: { ok: 'credit', no: 'reject', back: 'chargeback', open: 'pending', test: null } },
  payout: { at: 'cents', number: { scale: 2, strip: '€' } },
  currency: { at: 'cur', upper: true, value: 'USD' },
  occurred_at: { at: 'when', time: '%d.%m.%Y %H:%M', zone: 'Europe/Berlin' },
  reason: { at: 'why', text: 'html' },
};
const mapped = { postback: { token, fields } };

describe('reports of a source with a mapping', () => {
  it('are read by its rules', async () => {
    await using test = await HandlerUnderTest.create(mapped);
    const click = test.click();
    const sent = { aff_sub: ` ${click} `, tid: 't1', state: 'OK', cents: '€ 125', when: '18.11.2026 10:30' };
    const report = { ...sent, goal: 'level 5' };
    expect(saying(await test.get(report))).toEqual([200, 'recorded']);
    expect(saying(await test.get(report))).toEqual([200, 'duplicate']);
    const back = { ...report, state: 'back', why: '<b>Fraud</b> &amp; more' };
    expect(saying(await test.get(back))).toEqual([200, 'recorded']);
    expect(test.rows).toMatchObject([
      { click_id: click, kind: 'credit', payout: 1.25, occurred_at: '2026-11-18T09:30:00Z', event_id: 'level-5' },
      { click_id: click, kind: 'chargeback', reason: 'Fraud & more' },
    ]);
  });

  it('may be bodies of JSON, and lack what the mapping lets them lack', async () => {
    await using test = await HandlerUnderTest.create(mapped);
    const click = test.click();
    const body = Buffer.from(JSON.stringify({ token, data: { sub: click }, goal: 'install', state: 'ok' }));
    const headers = { 'content-type': 'application/json' };
    expect(saying(await test.receive({ method: 'POST', headers, body }))).toEqual([200, 'recorded']);
    expect(test.rows).toMatchObject([{ click_id: click, kind: 'credit' }]);
    expect(test.rows[0]).not.toHaveProperty('event_id');
  });

  it('that are passed over are answered and not recorded', async () => {
    await using test = await HandlerUnderTest.create(mapped);
    expect(saying(await test.get({ aff_sub: test.click(), state: 'test' }))).toEqual([200, 'ignored']);
    expect(test.rows).toEqual([]);
  });

  it('that announce a conversion are recorded, once, and the decision after them', async () => {
    await using test = await HandlerUnderTest.create(mapped);
    const report = { aff_sub: test.click(), state: 'open', cents: '125' };
    expect(saying(await test.get(report))).toEqual([200, 'recorded']);
    expect(saying(await test.get({ ...report, cents: '150' }))).toEqual([200, 'duplicate']);
    expect(saying(await test.get({ ...report, state: 'ok', cents: '150' }))).toEqual([200, 'recorded']);
    expect(test.rows.map(({ kind, payout }) => [kind, String(payout)])).toEqual([
      ['pending', '1.25'],
      ['credit', '1.5'],
    ]);
  });

  it.each([
    [{ cents: '1,25' }, 'cents is not written as the settings of this source say'],
    [{ when: '2026-11-18T10:00:00Z' }, 'when is not written as the settings of this source say'],
    [{ state: 'paid' }, 'state is none that is known of this source'],
    [{ state: '' }, 'state is missing'],
    [{ aff_sub: '' }, 'aff_sub is missing'],
    [{ aff_sub: '{aff_sub}' }, 'aff_sub is a macro that was not replaced'],
    // What the mapping does not name is not read.
    [{ aff_sub: '', click_id: 'c' }, 'aff_sub is missing'],
    [{ cents: '-5' }, 'cents is negative, and nothing says that this takes a conversion back'],
  ])('with %j are refused by name, and kept', async (wrong, message) => {
    await using test = await HandlerUnderTest.create(mapped);
    const answer = await test.get({ aff_sub: test.click(), tid: 't', state: 'ok', ...wrong });
    expect(saying(answer)).toEqual([400, 'invalid_parameter']);
    expect(answer.body).toContain(message);
    expect(test.rows).toEqual([]);
  });

  it('may be reversed by an amount below zero', async () => {
    await using test = await HandlerUnderTest.create({
      postback: { ...mapped.postback, reversal: { negative_payout: true } },
    });
    const report = { aff_sub: test.click(), tid: 't', state: 'ok', cents: '125' };
    await test.get(report);
    expect(saying(await test.get({ ...report, cents: '-125' }))).toEqual([200, 'recorded']);
    expect(test.rows.map(({ kind }) => kind)).toEqual(['credit', 'chargeback']);
  });

  it('are made for a trial under the source’s own names and words', async () => {
    await using test = await HandlerUnderTest.create(mapped);
    const settings = readSources(test.data).sources[0]?.postback as PostbackSettings;
    const { target, headers } = guardedReport(
      'north',
      settings,
      readPostbackSecrets('north', settings),
      reportParameters(settings, { click_id: test.click(), transaction_id: 't', status: 'chargeback' }),
      test.now,
    );
    expect(target).toContain('state=back');
    expect(saying(await test.receive({ query: target.split('?')[1] ?? '', headers }))).toEqual([200, 'recorded']);
  });

  it.each([
    [{ parameters: { click_id: 'c' } }, 'leave those out'],
    [{ statuses: { paid: 'credit' } }, 'leave those out'],
    [{ fields: { transaction_id: 't' } }, 'lacks click_id'],
    [{ fields: { ...fields, kind: 'k' } }, '"kind": no field of ours'],
    [{ fields: { ...fields, status: { at: 's', words: { a: 'paid' } } } }, 'postback.fields.status.words.a'],
    [{ fields: { ...fields, payout: { each: 'p', at: 'a', lowest: true } } }, 'a report has none'],
    [{ fields: { ...fields, click_id: '' } }, 'name a parameter'],
  ])('with %j in the settings are refused at their reading', async (more, error) => {
    await using test = await HandlerUnderTest.create(mapped);
    const entry = { source: 'north', postback: { ...mapped.postback, ...more } };
    await writeFile(test.data.sourcesFile, JSON.stringify({ sources: [entry] }), { mode: 0o600 });
    expect(() => readSources(test.data)).toThrow(error);
  });
});
