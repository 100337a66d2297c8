import { describe, expect, it } from 'vitest';
import { planReports, type PlannedReport } from '../../../src/tracker/conversions/planned-reports.ts';
import { UsageError } from '../../../src/kit/errors/errors.ts';
import { readPostbackSecrets, type PostbackSettings } from '../../../src/sources/config/postback-settings.ts';
import { readSources, type SourceEntry } from '../../../src/sources/config/sources-file.ts';
import { guardedReport } from '../../../src/tracker/conversions/guard/guarded-report.ts';
import { HandlerUnderTest, saying, token } from './handler-under-test.ts';

const negative = { negative_payout: true };

async function planned(test: HandlerUnderTest, payout = '0.5') {
  const entry = readSources(test.data).sources[0] as SourceEntry;
  const settings = entry.postback as PostbackSettings;
  const { credit, reversal } = planReports({
    entry,
    settings,
    eventId: 'level-5',
    payout,
    clickId: test.click(),
    transactionId: 'test-1',
    rates: {},
    now: test.now,
  });
  const send = async ({ parameters }: PlannedReport) => {
    const secrets = readPostbackSecrets('north', settings);
    const { target, headers } = guardedReport('north', settings, secrets, parameters, test.now);
    return saying(await test.receive({ query: target.split('?')[1] ?? '', headers }));
  };
  return { credit, reversal, send };
}

describe('the reports of a trial', () => {
  it.each<[string, object, kind?: string]>([
    ['a status of ours', {}, 'reject'],
    ['a status in its own words', { parameters: { status: 's' }, statuses: { ok: 'credit', no: 'reject' } }, 'reject'],
    [
      'a status of its fields that knows chargebacks alone',
      { fields: { click_id: 'c', status: { at: 's', words: { done: 'credit', back: 'chargeback', '*': null } } } },
    ],
    ['neither status nor transaction', { fields: { click_id: 'c', payout: 'p' }, reversal: negative }],
    [
      'two places of its transaction',
      { fields: { click_id: 'c', transaction_id: { at: ['ref', 'tx'] }, payout: 'p' } },
    ],
    [
      'its transaction in capitals',
      { fields: { click_id: 'c', transaction_id: { at: 't', upper: true }, payout: 'p' } },
    ],
    ['amounts in cents', { fields: { click_id: 'c', event_id: 'e', payout: { at: 'p', number: { scale: 2 } } } }],
    ['amounts with a comma', { fields: { click_id: 'c', payout: { at: 'p', number: { decimal: ',' } } } }],
    ['ids that begin otherwise', { fields: { click_id: 'c', transaction_id: 't' }, reversal: { id_prefix: 'r-' } }],
    [
      'a word of its own',
      { fields: { click_id: 'c' }, reversal: { word: { parameter: 'type', values: ['Undo'] }, kind: 'reject' } },
      'reject',
    ],
    [
      'a word in the place of its status',
      {
        fields: { click_id: 'c', status: { at: 'type', words: { '*': 'credit' } } },
        reversal: { word: { parameter: 'type', values: ['Undo'] } },
      },
    ],
    [
      'ayeT’s signature, and statuses that all mean a credit',
      {
        signature: { scheme: 'ayet', secret: token },
        statuses: { reject: 'credit', chargeback: 'credit' },
      },
    ],
  ])('take back what they credit, of a source with %s', async (_name, own, kind = 'chargeback') => {
    await using test = await HandlerUnderTest.create({ postback: { token, reversal: negative, ...own } });
    const { credit, reversal, send } = await planned(test);
    expect(await send(credit)).toEqual([200, 'recorded']);
    expect(await send(reversal)).toEqual([200, 'recorded']);
    expect(test.rows.map((row) => row['kind'])).toEqual(['credit', kind]);
    expect(reversal.kind).toBe(kind);
    expect(test.rows[1]?.['conversion_id']).toBe(test.rows[0]?.['conversion_id']);
  });

  it('take back what the catalog pays nothing for', async () => {
    await using test = await HandlerUnderTest.create({
      postback: { token, fields: { click_id: 'c', payout: 'p' }, reversal: negative },
    });
    const { reversal } = await planned(test, '0');
    expect(reversal.kind).toBe('chargeback');
  });

  it.each<[string, object, says: string, source?: object]>([
    ['names no sign', { fields: { click_id: 'c', transaction_id: 't' } }, 'names no sign of a reversal'],
    ['has a sign in a field without a name', { fields: { click_id: 'c' }, reversal: negative }, 'give its "fields"'],
    [
      'has amounts of a currency without a rate',
      { fields: { click_id: 'c', payout: 'p' }, reversal: negative },
      'no sign',
      { currency: 'EUR' },
    ],
    ['takes no credit', { fields: { click_id: { at: 'c', words: { '*': null } } } }, 'it passes it over'],
    ['reads another state', { fields: { click_id: 'c', status: { value: 'pending' } } }, 'it reads a pending'],
  ])('are refused for a source that %s', async (_name, own, says, source = {}) => {
    await using test = await HandlerUnderTest.create({ postback: { token, ...own }, source });
    await expect(planned(test)).rejects.toThrow(UsageError);
    await expect(planned(test)).rejects.toThrow(says);
  });
});
