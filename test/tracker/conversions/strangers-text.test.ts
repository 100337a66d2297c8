import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hmacHex } from '../../../src/tracker/conversions/guard/signatures.ts';
import { replayAuthorization } from '../../../src/tracker/conversions/replay-key.ts';
import { HandlerUnderTest, replayKey, saying, start, token } from './handler-under-test.ts';

const warned = (test: HandlerUnderTest) => test.logged.filter((line) => line.includes('is not UTF-8'));

/** As long as senders make it: the id of a click may hold a short one. */
const boundary = '--------------------------905191404154484336597275';
const partOf = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`;

describe('text that is no UTF-8', () => {
  it.each([
    ['in what nobody needs', 'offer_name=caf%E9', undefined],
    ['in a name that nobody knows', 'caf%E9=1', undefined],
    ['in two names that nobody knows', 'caf%E9=1&caf%E8=2&\u00e9=3&\u00e8=%E8', undefined],
    ['as a stray percent sign', 'offer_name=50%+off', undefined],
    ['in a reason', 'reason=caf%E9', 'caf\ufffd'],
    ['in a reason, as a byte', 'reason=caf\u00e9', 'caf\ufffd'],
    ['in a reason with a stray percent sign', 'reason=50% fraud', '50% fraud'],
  ])('%s loses no conversion', async (_where, parameter, reason) => {
    await using test = await HandlerUnderTest.create();
    const query = `token=${token}&click_id=${test.click()}&status=reject&${parameter}`;
    expect(saying(await test.receive({ query }))).toEqual([200, 'recorded']);
    expect(test.rows[0]?.['reason']).toBe(reason);
  });

  it.each([
    ['application/x-www-form-urlencoded', (click: string) => `click_id=${click}&status=reject&reason=caf\xe9&x=\xe9`],
    ['application/json', (click: string) => `{"click_id":"${click}","status":"reject","reason":"caf\xe9","x":"\xe9"}`],
  ])('in a body of %s loses none, and is logged once a minute', async (type, bodyOf) => {
    await using test = await HandlerUnderTest.create();
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const post = () => test.receive({ method: 'POST', headers, body: Buffer.from(bodyOf(test.click()), 'latin1') });
    expect(saying(await post())).toEqual([200, 'recorded']);
    await post();
    expect(warned(test)).toHaveLength(1);
    test.now += 60_000;
    await post();
    expect(warned(test)).toHaveLength(2);
    expect(test.rows.map(({ reason }) => reason)).toEqual(Array(3).fill('caf\ufffd'));
  });

  it.each([
    ['application/x-www-form-urlencoded', (names: string[]) => names.map((name) => `${name}=1`).join('&')],
    ['application/json', (names: string[]) => `{${names.map((name) => `"${name}":1`).join(',')}}`],
    [
      `multipart/form-data; boundary=${boundary}`,
      (names: string[]) => `${names.map(partOf).join('')}--${boundary}--\r\n`,
    ],
  ])(
    'in two names of a body of %s loses none; a known name given twice beside them is refused',
    async (type, bodyOf) => {
      await using test = await HandlerUnderTest.create();
      const headers = { authorization: `Bearer ${token}`, 'content-type': type };
      const post = (...names: string[]) => {
        const body = Buffer.from(bodyOf(names), 'latin1');
        return test.receive({ method: 'POST', query: `click_id=${test.click()}`, headers, body });
      };
      expect(saying(await post('caf\xe9', 'caf\xe8'))).toEqual([200, 'recorded']);
      expect(saying(await post('caf\xe9', 'caf\xe8', 'payout', 'payout'))).toEqual([400, 'invalid_parameter']);
    },
  );

  it('is read where its bytes are UTF-8 that nobody percent-encoded', async () => {
    await using test = await HandlerUnderTest.create();
    const reason = Buffer.from('café').toString('latin1');
    await test.receive({ query: `token=${token}&click_id=${test.click()}&status=reject&reason=${reason}` });
    expect(test.rows[0]?.['reason']).toBe('café');
    expect(warned(test)).toEqual([]);
  });

  it.each([
    ['offerline', 'reason=50%25%20caf%E9'],
    ['ayet', 'reason=50%25+caf%E9'],
  ])('is signed as it was sent, by %s', async (scheme, signedReason) => {
    const secret = 'a-secret-of-16-or-more';
    await using test = await HandlerUnderTest.create({ postback: { signature: { scheme, secret } } });
    const timestamp = String(start / 1000);
    const click_id = test.click();
    const signature = hmacHex(secret, `click_id=${click_id}&${signedReason}&status=reject&timestamp=${timestamp}`);
    const query = `click_id=${click_id}&reason=50%25+caf%e9&status=reject&timestamp=${timestamp}`;
    const request =
      scheme === 'ayet'
        ? { query, headers: { 'x-ayetstudios-security-hash': signature } }
        : { query: `${query}&signature=${signature}` };
    expect(saying(await test.receive(request))).toEqual([200, 'recorded']);
  });

  it('in an id is refused, and known for it in a replay', async () => {
    await using test = await HandlerUnderTest.create();
    const answer = await test.receive({ query: `token=${token}&click_id=${test.click()}&transaction_id=a%E9` });
    expect(answer.body).toContain('transaction_id is not percent-encoded UTF-8');
    await test.refusals.settled();
    const kept = readFileSync(`${test.data.refusedConversions}/2026-11-18.north.ndjson`, 'utf8');
    expect(JSON.parse(kept)).toMatchObject({ damaged: ['transaction_id'] });
    const headers = { authorization: replayAuthorization(replayKey) };
    const again = await test.receive({ method: 'POST', headers, body: Buffer.from(kept) });
    expect(again.body).toBe(answer.body);
  });
});

describe('a form in several parts, as PHP sends an array', () => {
  const multipart = (fields: Record<string, string>) =>
    Object.entries(fields)
      .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('') + `--${boundary}--\r\n`;

  it('is read, with the token in it', async () => {
    await using test = await HandlerUnderTest.create();
    const body = Buffer.from(multipart({ token, click_id: test.click(), payout: '1.5', reason: '' }));
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    expect(saying(await test.receive({ method: 'POST', headers, body }))).toEqual([200, 'recorded']);
    expect(test.rows[0]?.['payout']).toBe(1.5);
  });

  it('with a parameter given twice is refused', async () => {
    await using test = await HandlerUnderTest.create();
    const body = Buffer.from(multipart({ click_id: test.click() }));
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, authorization: `Bearer ${token}` };
    const answer = await test.receive({ method: 'POST', query: 'click_id=x', headers, body });
    expect(saying(answer)).toEqual([400, 'invalid_parameter']);
  });
});
