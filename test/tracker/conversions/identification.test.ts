import { createHmac } from 'node:crypto';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { UsageError } from '../../../src/kit/errors/errors.ts';
import { webhookSignature } from '../../../src/tracker/conversions/guard/signatures.ts';
import { makeReplayKey, readReplayKey } from '../../../src/tracker/conversions/replay-key.ts';
import { HandlerUnderTest, northOffer, saying, start, token } from './handler-under-test.ts';

describe('who is not known', () => {
  it('gets the same answer, whatever is wrong', async () => {
    const allow = ['198.51.100.0/24'];
    await using test = await HandlerUnderTest.create({ postback: { token, allow }, others: [{ source: 'pulled' }] });
    const click_id = test.click();
    const answers = [
      await test.get({ click_id, token: 'wrong' }),
      await test.get({ click_id }, { address: '192.0.2.1' }),
      await test.get({ click_id }, { source: 'nobody' }),
      await test.get({ click_id }, { source: '__proto__' }),
      await test.get({ click_id }, { source: 'pulled' }),
      await test.receive({ method: 'POST', body: Buffer.from('{') }),
    ];
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, outcome: 'unauthorized', source: undefined });
    expect(test.rows).toEqual([]);
  });

  it('is not heard after sixty failures in a minute, right or wrong, and only from there', async () => {
    await using test = await HandlerUnderTest.create();
    const fail = (address: string) => test.get({ token: 'wrong' }, { address });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, host) => fail(`2001:db8::${host.toString(16)}`)));
    expect(answers.every(({ status }) => status === 401)).toBe(true);
    test.now += 20_000;
    const refused = await test.get({ click_id: test.click() }, { address: '2001:db8::abcd' });
    expect(refused).toMatchObject({ status: 429, outcome: 'too_many_failures', headers: { 'retry-after': '40' } });
    expect((await test.get({ click_id: test.click() }, { address: '2001:db8:0:1::1' })).status).toBe(200);
    test.now += 40_000;
    expect((await test.get({ click_id: test.click() }, { address: '2001:db8::abcd' })).status).toBe(200);
  });

  it('may be refused as often as it likes for other reasons', async () => {
    await using test = await HandlerUnderTest.create();
    for (let report = 0; report < 100; report++) await test.get({ click_id: 'nobody' });
    expect(saying(await test.get({ click_id: test.click() }))).toEqual([200, 'recorded']);
  });
});

describe('a signed report', () => {
  it('is replayed after five minutes in vain, and before that a duplicate', async () => {
    const postback = { signature: { scheme: 'ayet', secret: 'the-api-key-of-ayet' } };
    await using test = await HandlerUnderTest.create({ postback });
    expect((await test.get({ click_id: test.click() })).status).toBe(401);
    const secret = 'a-secret-of-our-own-scheme';
    await test.configure({ signature: { scheme: 'offerline', secret } });
    await test.sources.poll();
    const text = `click_id=${test.click()}&timestamp=${start / 1000}`;
    const query = `${text}&signature=${createHmac('sha256', secret).update(text).digest('hex')}`;
    expect(saying(await test.receive({ query }))).toEqual([200, 'recorded']);
    test.now += 300_000;
    expect(saying(await test.receive({ query }))).toEqual([200, 'duplicate']);
    test.now += 1;
    expect(saying(await test.receive({ query }))).toEqual([401, 'unauthorized']);
  });
});

it('a signed webhook is its sender’s word for the body alone: who has heard it adds nothing by the query', async () => {
  const secret = 'a-secret-of-webhooks-by-post';
  await using test = await HandlerUnderTest.create({
    postback: { signature: { scheme: 'standard_webhooks', secret } },
  });
  const signed = (content: string) => ({
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(start / 1000),
    'webhook-signature': webhookSignature(secret, 'msg_1', String(start / 1000), content),
  });
  const content = JSON.stringify({ click_id: test.click() });
  const post = (query: string, text: string) =>
    test.receive({ method: 'POST', query, headers: signed(text), body: Buffer.from(text) });
  expect(saying(await post('campaign=7', content))).toEqual([200, 'recorded']);
  expect(saying(await post('transaction_id=more&payout=20', content))).toEqual([200, 'duplicate']);
  expect(saying(await post(`click_id=${test.click()}`, ''))).toEqual([400, 'invalid_parameter']);
  expect(test.rows).toHaveLength(1);
});

describe('a body that would take longer to look at than to send', () => {
  const members = Array.from({ length: 1100 }, (_, n) => `"${n}":1`).join(',');
  it.each([
    ['long names around many', `{"${'!'.repeat(8000)}":{${members}}`],
    ['objects within objects', `{"":${'{"":'.repeat(3200)}1${'}'.repeat(3200)}`],
    ['lists within lists', `{"a":${'['.repeat(8000)}${']'.repeat(8000)}`],
  ])('is refused at once: %s', async (_what, text) => {
    await using test = await HandlerUnderTest.create();
    const body = Buffer.from(`${text},"click_id":"${test.click()}"}`);
    const post = (authorization: string) =>
      test.receive({ method: 'POST', headers: { 'content-type': 'application/json', authorization }, body });
    expect(saying(await post('Bearer of-somebody'))).toEqual([401, 'unauthorized']);
    expect(saying(await post(`Bearer ${token}`))).toEqual([400, 'invalid_parameter']);
  });
});

describe('sources.json', () => {
  it('is followed: a new token counts beside the old one, then alone', async () => {
    await using test = await HandlerUnderTest.create();
    const next = 'the-token-that-comes-next';
    const say = async (sent: string) => (await test.get({ click_id: test.click(), token: sent })).status;
    expect([await say(token), await say(next)]).toEqual([200, 401]);
    await test.configure({ token: [next, token] });
    await test.sources.poll();
    expect([await say(token), await say(next)]).toEqual([200, 200]);
    await test.configure({ token: next });
    await test.sources.poll();
    expect([await say(token), await say(next)]).toEqual([401, 200]);
  });

  it('is followed into the files of its secrets', async () => {
    await using test = await HandlerUnderTest.create();
    const file = join(test.data.root, 'token-of-north');
    await writeFile(file, token);
    await test.configure({ token: { file } });
    await test.sources.poll();
    const say = async (sent: string) => (await test.get({ click_id: test.click(), token: sent })).status;
    expect(await say(token)).toBe(200);
    const next = 'the-token-that-comes-next';
    await writeFile(file, next);
    await test.sources.poll();
    expect([await say(token), await say(next)]).toEqual([401, 200]);
    await rm(file);
    await test.sources.poll();
    expect(await say(next)).toBe(200);
    // One that comes after the configuration that names it.
    await test.configure({ token: { file: `${file}-2` } });
    await test.sources.poll();
    await writeFile(`${file}-2`, token);
    await test.sources.poll();
    expect([await say(token), await say(next)]).toEqual([200, 401]);
  });

  it('that is broken or gone, or names a secret that is not there, leaves the last good one', async () => {
    await using test = await HandlerUnderTest.create();
    const report = async () => saying(await test.get({ click_id: test.click() }))[1];
    await writeFile(test.data.sourcesFile, `{"sources": [{"source": "north", "postback": {"token": "${token}"`);
    await test.sources.poll();
    expect(await report()).toBe('recorded');
    await test.configure({ token: { file: '/nowhere/token' } });
    await chmod(test.data.sourcesFile, 0o644);
    for (let poll = 0; poll < 3; poll++) await test.sources.poll();
    expect(await report()).toBe('recorded');
    await rm(test.data.sourcesFile);
    await test.sources.poll();
    expect(await report()).toBe('recorded');
    expect(test.logged.filter((line) => line.includes('keeping the last good settings'))).toHaveLength(3);
    // It is tried again and again, and logged once.
    expect(test.logged.filter((line) => line.includes('can be read by others'))).toEqual([]);
    expect(test.logged.join('')).not.toContain(token);
    await test.configure({ token: { env: 'NO_SUCH_TOKEN' } });
    await expect(test.open()).rejects.toThrow(UsageError);
  });

  it.each([
    [{}, 'has no guard'],
    [{ token: [] }, 'postback.token'],
    [{ token: ['a', 'b', 'c'] }, 'at most two'],
    [{ token, allow: ['10.0.0.0/33'] }, 'is not an address or a network'],
    [{ signature: { scheme: 'md5', secret: 's', template: '{click_id}' } }, 'has no {secret}'],
    [{ token, parameters: { click_id: 'id', transaction_id: 'id' } }, 'one name for two fields'],
    [{ token, parameters: { click: 'id' } }, 'postback.parameters'],
    [{ token, statuses: { ok: 'paid' } }, 'postback.statuses.ok'],
    [{ token, tokens: 1 }, 'tokens'],
  ])('%j is a mistake, named without secrets', async (postback, message) => {
    await using test = await HandlerUnderTest.create();
    await test.configure(postback);
    const opening = test.open();
    await expect(opening).rejects.toThrow(UsageError);
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.not.toThrow(token);
  });

  it('names a source that is too long for the ids of its conversions', async () => {
    await using test = await HandlerUnderTest.create();
    const long = 'x'.repeat(63);
    await writeFile(test.data.sourcesFile, JSON.stringify({ sources: [{ source: long, postback: { token } }] }));
    await expect(test.open()).rejects.toThrow('has more than 62 characters');
  });

  it('and rates of offerline.json are followed', async () => {
    await using test = await HandlerUnderTest.create({ offers: new Map([[7, northOffer]]) });
    const report = { click_id: test.click(), payout: '2', currency: 'EUR' };
    expect(saying(await test.get(report))).toEqual([422, 'no_rate']);
    await writeFile(test.data.settingsFile, JSON.stringify({ rates: { EUR: '1.123457' } }));
    await test.sources.poll();
    expect(saying(await test.get(report))).toEqual([200, 'recorded']);
    expect(test.sink.rows[0]).toContain('"payout":2.246914');
  });
});

it('the key of replays is another one at each start, for its owner alone', async () => {
  await using test = await HandlerUnderTest.create();
  const silent = createLogger({ write: () => true }, 'silent');
  const [one, other] = [await makeReplayKey(test.data, silent), await makeReplayKey(test.data, silent)];
  expect(one).not.toBe(other);
  expect(readReplayKey(test.data)).toBe(other);
});
