import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/kit/errors/errors.ts';
import { SentParameters } from '../../../src/tracker/conversions/guard/sent-parameters.ts';
import { ayetText, hmacHex } from '../../../src/tracker/conversions/guard/signatures.ts';
import { HandlerUnderTest, saying, token, type UnderTestOptions } from './handler-under-test.ts';

const secret = 'a-secret-of-the-network';

/** A report as a network sends and signs it. */
type Send = (test: HandlerUnderTest, fields: Record<string, string>) => Promise<[number, string]>;

const byAyet: Send = async (test, fields) => {
  const signature = hmacHex(secret, ayetText(new SentParameters(Object.entries(fields))));
  const headers = { 'x-ayetstudios-security-hash': signature };
  return saying(await test.receive({ query: new URLSearchParams(fields).toString(), headers }));
};
const byCpx: Send = async (test, fields) => {
  const hash = createHash('md5').update(`${fields['trans_id']}-${secret}`).digest('hex');
  return saying(await test.receive({ query: new URLSearchParams({ ...fields, hash }).toString() }));
};
const byToken: Send = async (test, fields) => saying(await test.get(fields));

interface Network {
  name: string;
  postback: NonNullable<UnderTestOptions['postback']>;
  send: Send;
  credit: Record<string, string>;
  reversal: Record<string, string>;
  /** The name of the parameter that carries our click. */
  click: string;
}

const networks: Network[] = [
  {
    name: 'ayeT-Studios, by default',
    postback: {
      signature: { scheme: 'ayet', secret },
      parameters: { click_id: 'custom_1', payout: 'payout_usd', reason: 'chargeback_reason' },
    },
    send: byAyet,
    click: 'custom_1',
    credit: { transaction_id: '381f99', payout_usd: '1.5', currency_amount: '150', is_chargeback: '0' },
    reversal: {
      transaction_id: 'r-381f99',
      payout_usd: '-1.5',
      currency_amount: '-150',
      is_chargeback: '1',
      chargeback_reason: 'fraud',
    },
  },
  {
    name: 'CPX Research, by the same id and an amount below zero',
    postback: {
      signature: { scheme: 'md5', secret, template: '{trans_id}-{secret}', parameter: 'hash' },
      parameters: { click_id: 'subid_1', transaction_id: 'trans_id', payout: 'amount_usd' },
      reversal: { negative_payout: true },
    },
    send: byCpx,
    click: 'subid_1',
    credit: { trans_id: '2401', amount_usd: '1.5', type: 'complete' },
    reversal: { trans_id: '2401', amount_usd: '-1.5', type: 'complete' },
  },
  {
    name: 'CPX Research, by its status',
    postback: {
      signature: { scheme: 'md5', secret, template: '{trans_id}-{secret}', parameter: 'hash' },
      parameters: { click_id: 'subid_1', transaction_id: 'trans_id', payout: 'amount_usd' },
      statuses: { '1': 'credit', '2': 'chargeback' },
    },
    send: byCpx,
    click: 'subid_1',
    credit: { trans_id: '2402', amount_usd: '1.5', status: '1' },
    reversal: { trans_id: '2402', amount_usd: '-1.5', status: '2' },
  },
  {
    name: 'BitLabs, by a word',
    postback: {
      token,
      parameters: { click_id: 'sub', transaction_id: 'tx', payout: 'raw' },
      reversal: { word: { parameter: 'type', values: ['reconciliation'] } },
    },
    send: byToken,
    click: 'sub',
    credit: { tx: 's1', raw: '1.5', type: 'COMPLETE' },
    reversal: { tx: 's1', raw: '-1.5', type: 'RECONCILIATION' },
  },
  {
    name: 'BitLabs without states, by the sign alone',
    postback: {
      token,
      parameters: { click_id: 'sub', transaction_id: 'tx', payout: 'raw' },
      reversal: { negative_payout: true },
    },
    send: byToken,
    click: 'sub',
    credit: { tx: 's2', raw: '1.5' },
    reversal: { tx: 's2', raw: '-1.5' },
  },
  {
    name: 'Lootably, by its status and an amount below zero',
    postback: {
      token,
      parameters: { click_id: 'sid', transaction_id: 'transactionID', payout: 'revenue', status: 'status' },
      statuses: { '1': 'credit', '0': 'chargeback' },
    },
    send: byToken,
    click: 'sid',
    credit: { transactionID: 'L1', revenue: '1.5', status: '1' },
    reversal: { transactionID: 'L1', revenue: '-1.5', status: '0' },
  },
];

describe('a reversal', () => {
  it.each(networks)('of $name takes back the conversion that it names', async (network) => {
    await using test = await HandlerUnderTest.create({ postback: network.postback });
    const [click, other] = [test.click(), test.click()];
    const credit = { ...network.credit, [network.click]: click };
    const reversal = { ...network.reversal, [network.click]: click };
    expect(await network.send(test, credit)).toEqual([200, 'recorded']);
    expect(await network.send(test, reversal)).toEqual([200, 'recorded']);
    expect(await network.send(test, reversal)).toEqual([200, 'duplicate']);
    expect(await network.send(test, { ...reversal, [network.click]: other })).toEqual([409, 'contradiction']);
    const [credited, reversed, ...more] = test.rows;
    expect([credited?.['kind'], credited?.['payout']]).toEqual(['credit', 1.5]);
    expect([reversed?.['kind'], reversed?.['payout']]).toEqual(['chargeback', 1.5]);
    expect(reversed?.['conversion_id']).toBe(credited?.['conversion_id']);
    expect(more).toEqual([]);
  });

  it('may be a reject, as its source says, and come before the credit', async () => {
    const postback = { token, reversal: { id_prefix: 'void:', kind: 'reject' } };
    await using test = await HandlerUnderTest.create({ postback });
    const click_id = test.click();
    expect(await byToken(test, { click_id, transaction_id: 'void:T1', payout: '4' })).toEqual([200, 'recorded']);
    expect(await byToken(test, { click_id, transaction_id: 'T1', payout: '4' })).toEqual([200, 'recorded']);
    expect(test.rows.map(({ conversion_id, kind, payout }) => [conversion_id, kind, payout])).toEqual([
      ['north:T1', 'reject', 4],
      ['north:T1', 'credit', 4],
    ]);
  });

  it('needs no status where its source sends one with credits, and one that waits stays unrecorded', async () => {
    const postback = { token, parameters: { status: 'state' }, reversal: { negative_payout: true } };
    await using test = await HandlerUnderTest.create({ postback });
    const click_id = test.click();
    expect(await byToken(test, { click_id, payout: '-2' })).toEqual([200, 'recorded']);
    expect(await byToken(test, { click_id, payout: '-2', state: 'pending' })).toEqual([200, 'ignored']);
    expect(await byToken(test, { click_id, payout: '2' })).toEqual([400, 'invalid_parameter']);
  });

  it('is known by its word whatever else its status says, but that it waits', async () => {
    const postback = {
      token,
      parameters: { status: 'state' },
      statuses: { DONE: 'credit' },
      reversal: { word: { parameter: 'type', values: ['recon'] } },
    };
    await using test = await HandlerUnderTest.create({ postback });
    const click_id = test.click();
    expect(await byToken(test, { click_id, state: 'done', type: 'x' })).toEqual([200, 'recorded']);
    expect(await byToken(test, { click_id, state: 'COMPLETE', type: 'RECON', payout: '-1' })).toEqual([
      200,
      'recorded',
    ]);
    expect(await byToken(test, { click_id, state: 'COMPLETE', type: 'x' })).toEqual([400, 'invalid_parameter']);
    expect(test.rows.map(({ kind }) => kind)).toEqual(['credit', 'chargeback']);
  });

  it('is none where nothing says so: an amount below zero is refused', async () => {
    await using test = await HandlerUnderTest.create();
    const answer = await test.get({ click_id: test.click(), payout: '-1' });
    expect(saying(answer)).toEqual([400, 'invalid_parameter']);
    expect(answer.body).toContain('is negative, and nothing says that this takes a conversion back');
  });

  it('that names no conversion is refused', async () => {
    await using test = await HandlerUnderTest.create({ postback: { token, reversal: { id_prefix: 'r-' } } });
    const answer = await test.get({ click_id: test.click(), transaction_id: 'r-' });
    expect(answer.body).toContain('transaction_id names no conversion after r-');
  });

  it('needs some sign, or sources.json is broken', async () => {
    await using test = await HandlerUnderTest.create();
    await test.configure({ token, reversal: {} });
    await expect(test.open()).rejects.toThrow(UsageError);
    await writeFile(
      test.data.sourcesFile,
      (await readFile(test.data.sourcesFile, 'utf8')).replace('{}', '{"id_prefix":"r-"}'),
    );
    await expect(test.open()).resolves.toBeUndefined();
  });
});
