import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NotRecordedError } from '../../../src/tracker/logs/row-log.ts';
import { replayAuthorization } from '../../../src/tracker/conversions/replay-key.ts';
import { HandlerUnderTest, northOffer, replayKey, saying, start, token } from './handler-under-test.ts';

const day = 86_400_000;

describe('a reported conversion', () => {
  it('is a row of the log before it is answered', async () => {
    await using test = await HandlerUnderTest.create();
    const stored = Promise.withResolvers<void>();
    test.sink.before = () => stored.promise;
    const click_id = test.click();
    let answered = false;
    const answer = test.get({ click_id, transaction_id: 'T1', payout: '2.50' }).then((given) => {
      answered = true;
      return given;
    });
    await setImmediate();
    expect(answered).toBe(false);
    stored.resolve();
    expect(await answer).toEqual({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      contentType: 'application/json; charset=utf-8',
      body: '{"status":"recorded","conversion_id":"north:T1"}',
      outcome: 'recorded',
      source: 'north',
    });
    expect(test.sink.rows).toEqual([
      `{"conversion_id":"north:T1","click_id":"${click_id}","kind":"credit","occurred_at":"2026-11-18T10:00:00Z","payout":2.5}`,
    ]);
    expect(test.recorded).toEqual(['north:T1']);
  });

  it('has an id of its click and milestone where it has no transaction', async () => {
    await using test = await HandlerUnderTest.create();
    const click_id = test.click();
    await test.get({ click_id });
    await test.get({ click_id, event_id: 'level-5' });
    expect(test.rows.map(({ conversion_id }) => conversion_id)).toEqual([
      `north:${click_id}:-`,
      `north:${click_id}:level-5`,
    ]);
  });

  it.each(['x'.repeat(123), 'Bestellung №1', 'two\nlines'])(
    'has an id by its digest where %j makes none',
    async (id) => {
      await using test = await HandlerUnderTest.create();
      const answer = await test.get({ click_id: test.click(), transaction_id: id });
      expect(saying(answer)).toEqual([200, 'recorded']);
      expect(test.rows[0]?.['conversion_id']).toMatch(/^north:~[0-9a-f]{64}$/);
      expect(saying(await test.get({ click_id: test.rows[0]?.['click_id'] as string, transaction_id: id }))).toEqual([
        200,
        'duplicate',
      ]);
    },
  );

  it('is found where its network writes the click in capitals', async () => {
    await using test = await HandlerUnderTest.create();
    const click_id = test.click();
    expect(saying(await test.get({ click_id: click_id.toUpperCase() }))).toEqual([200, 'recorded']);
    expect(test.rows[0]?.['click_id']).toBe(click_id);
    expect(saying(await test.get({ click_id }))).toEqual([200, 'duplicate']);
  });

  it('may come before it is credited as a reject, and the credit after it', async () => {
    await using test = await HandlerUnderTest.create();
    const report = { click_id: test.click(), transaction_id: 'T1' };
    expect(saying(await test.get({ ...report, status: 'rejected', reason: 'fraud\u0000\nscore' }))).toEqual([
      200,
      'recorded',
    ]);
    expect(saying(await test.get({ ...report, status: 'approved' }))).toEqual([200, 'recorded']);
    expect(test.rows.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['reject', 'fraud score'],
      ['credit', undefined],
    ]);
  });

  it('is recorded whatever its reason looks like', async () => {
    await using test = await HandlerUnderTest.create();
    const report = { click_id: test.click(), status: 'rejected', reason: '[fraud]' };
    expect(saying(await test.get(report))).toEqual([200, 'recorded']);
    expect(test.rows[0]?.['reason']).toBe('[fraud]');
  });

  it('that is pending is answered and recorded nowhere', async () => {
    await using test = await HandlerUnderTest.create();
    expect(saying(await test.get({ click_id: test.click(), status: 'Pending' }))).toEqual([200, 'ignored']);
    expect(test.rows).toEqual([]);
  });

  it('comes by form and by JSON as well, its money by its digits', async () => {
    await using test = await HandlerUnderTest.create();
    const headers = { authorization: `Bearer ${token}` };
    const [one, other] = [test.click(), test.click()];
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    const body = Buffer.from(`click_id=${one}&payout=0.100001`);
    expect(saying(await test.receive({ method: 'POST', headers: form, body }))).toEqual([200, 'recorded']);
    const json = { ...headers, 'content-type': 'application/json; charset=utf-8' };
    const text = Buffer.from(`{"click_id":"${other}","payout":2.300000,"more":{"deep":[1]}}`);
    expect(saying(await test.receive({ method: 'POST', headers: json, body: text }))).toEqual([200, 'recorded']);
    expect(test.sink.rows.map((row) => /"payout":([^,}]*)/.exec(row)?.[1])).toEqual(['0.100001', '2.3']);
  });

  const posted = (test: HandlerUnderTest, text: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return test.receive({ method: 'POST', headers, body: Buffer.from(text) });
  };

  it.each([
    ['', {}],
    [' and a mapping', { fields: { click_id: 'click_id', transaction_id: { at: ['transaction_id', 'tid'] } } }],
  ])('has one id however its number is written, by names%s', async (_by, own) => {
    await using test = await HandlerUnderTest.create({ postback: { token, ...own } });
    const click = test.click();
    const answers: unknown[] = [];
    for (const id of ['77', '77.0', '7.7e1', '"77"'])
      answers.push(saying(await posted(test, `{"click_id":"${click}","transaction_id":${id},"sub9":1.5}`)));
    expect(answers).toEqual([[200, 'recorded'], ...Array.from({ length: 3 }, () => [200, 'duplicate'])]);
    const part = await posted(test, `{"click_id":"${click}","transaction_id":77.5}`);
    expect(saying(part)).toEqual([400, 'invalid_parameter']);
    expect(part.body).toContain('transaction_id is a number that is not whole');
    expect(test.rows.map(({ conversion_id: id }) => id)).toEqual(['north:77']);
  });

  const byType = { word: { parameter: 'type', values: ['chargeback'] } };
  const nested = { parameters: { status: 'data.status', payout: 'payout' }, reversal: byType };
  const mappedNested = {
    fields: { click_id: { at: ['data.click', 'click_id'] }, status: 'data.status', payout: 'payout' },
  };
  it.each([
    [{}, '"status":["rejected"]', 'status'],
    [{}, '"status":{"name":"rejected"}', 'status'],
    [{}, '"payout":[0.01]', 'payout'],
    [{}, '"transaction_id":[]', 'transaction_id'],
    [nested, '"data":{"status":["rejected"]}', 'data.status'],
    [nested, '"data":[{"status":"rejected"}]', 'data.status'],
    [nested, '"data":{"status":"approved"},"type":["chargeback"]', 'type'],
    [mappedNested, '"data":{"click":["c"],"status":"approved"}', 'data.click'],
    [mappedNested, '"data":{"status":{"a":1}}', 'data.status'],
  ])('of %j with %s is refused by name, also when replayed, instead of guessed', async (own, member, name) => {
    await using test = await HandlerUnderTest.create({ postback: { token, ...own } });
    const answer = await posted(test, `{"click_id":"${test.click()}",${member}}`);
    expect(saying(answer)).toEqual([400, 'invalid_parameter']);
    expect(answer.body).toContain(`${name} is a list or an object`);
    await test.refusals.settled();
    const folder = test.data.refusedConversions;
    const kept = await readFile(join(folder, '2026-11-18.north.ndjson'));
    const headers = { authorization: replayAuthorization(replayKey) };
    const again = await test.receive({ method: 'POST', headers, body: kept });
    expect(again.body).toContain(`${name} is a list or an object`);
    expect(test.rows).toEqual([]);
  });

  it('may have lists and objects in what nobody needs, and in its reason', async () => {
    await using test = await HandlerUnderTest.create({ postback: { token, parameters: { payout: 'data.usd' } } });
    const text = `{"click_id":"${test.click()}","status":"reject","data":{"usd":1},"reason":["fraud"],"x":[{"status":1}]}`;
    expect(saying(await posted(test, text))).toEqual([200, 'recorded']);
    expect(test.rows[0]).not.toHaveProperty('reason');
  });

  it('is understood by the names and statuses of its source', async () => {
    await using test = await HandlerUnderTest.create({
      source: { currency: 'EUR', time_zone: 'Europe/Berlin' },
      settings: { rates: { EUR: '1.1', CHF: '1.25' } },
      postback: {
        token,
        parameters: { click_id: 'data.sub', status: 'state', payout: 'amount', occurred_at: 'at', event_id: 'goal' },
        statuses: { '1': 'credit', DECLINED: 'reject' },
      },
    });
    const receive = (json: object) =>
      test.receive({
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(json)),
      });
    const data = { sub: test.ids.mint(7, start - 3 * 3_600_000) };
    expect(saying(await receive({ data, state: 1, amount: '2', at: '2026-11-18 09:00:00' }))).toEqual([
      200,
      'recorded',
    ]);
    expect(saying(await receive({ data, state: 'declined', currency: 'chf', amount: '1', at: 1_763_000_000 }))).toEqual(
      [200, 'recorded'],
    );
    expect(test.rows).toMatchObject([
      { kind: 'credit', payout: 2.2, occurred_at: '2026-11-18T08:00:00Z' },
      { kind: 'reject', payout: 1.25, occurred_at: '2025-11-13T02:13:20Z' },
    ]);
    expect(saying(await receive({ data, amount: '2' }))).toEqual([400, 'invalid_parameter']);
  });
});

describe('a milestone or payout that is another now', () => {
  const hour = 3_600_000;
  const former = [
    { until: start - 2 * hour, payout: '9', events: [] },
    {
      until: start - hour,
      payout: '10',
      events: [
        { event_id: 'level-5', payout: '0.5' },
        { event_id: 'gone', payout: '0.75' },
      ],
    },
  ];
  const offers = new Map([[7, { ...northOffer, former }]]);
  const clickAt = (test: HandlerUnderTest, at: number) => test.ids.mint(7, at);

  it('counts as it was when the user clicked, and as it is now', async () => {
    await using test = await HandlerUnderTest.create({ offers });
    const [before, after] = [clickAt(test, start - hour - 1), clickAt(test, start - hour)];
    const dear = { payout: '100', transaction_id: 'dear' };
    expect(saying(await test.get({ click_id: after, ...dear }))).toEqual([422, 'payout_too_high']);
    expect(saying(await test.get({ click_id: before, ...dear }))).toEqual([200, 'recorded']);
    expect(saying(await test.get({ click_id: before, payout: '100.01', transaction_id: 'dearer' }))).toEqual([
      422,
      'payout_too_high',
    ]);
    expect(saying(await test.get({ click_id: after, event_id: 'gone' }))).toEqual([422, 'unknown_event']);
    expect(saying(await test.get({ click_id: before, event_id: 'gone' }))).toEqual([200, 'recorded']);
    // New since the click.
    const old = clickAt(test, start - 3 * hour);
    expect(saying(await test.get({ click_id: old, event_id: 'level-5' }))).toEqual([200, 'recorded']);
    expect(test.rows.map(({ event_id, payout }) => [event_id, payout])).toEqual([
      [undefined, 100],
      // What the user was promised: the catalog of the credit's time does not know it any more.
      ['gone', 0.75],
      ['level-5', undefined],
    ]);
  });

  it('makes no contradiction of the same report, before and after it is another, and over a restart', async () => {
    const catalog = new Map([[7, { ...northOffer, former }]]);
    await using test = await HandlerUnderTest.create({ offers: catalog });
    const click_id = clickAt(test, start - hour - 1);
    const gone = { click_id, event_id: 'gone' };
    const changed = { click_id, event_id: 'level-5' };
    const report = async (fields: Record<string, string>) => saying(await test.get(fields));
    expect(await report(gone)).toEqual([200, 'recorded']);
    expect(await report(changed)).toEqual([200, 'recorded']);
    const returned = [...northOffer.events, { event_id: 'gone', payout: '2' }];
    catalog.set(7, { ...northOffer, events: returned, former });
    expect(await report(gone)).toEqual([200, 'duplicate']);
    catalog.set(7, { ...northOffer, events: [], former });
    expect(await report(changed)).toEqual([200, 'duplicate']);
    expect(await report({ ...changed, payout: '1' })).toEqual([409, 'contradiction']);
  });
});

describe('the first check that fails answers', () => {
  it.each([
    ['401', { token: 'wrong', payout: '-1' }, [401, 'unauthorized']],
    ['400 before 404', { click_id: 'nobody', payout: '-1' }, [400, 'invalid_parameter']],
    ['404', { click_id: 'nobody', event_id: 'none' }, [404, 'unknown_click']],
    [
      '403 before 410',
      { click_id: 'foreign', event_id: 'none', occurred_at: '2026-11-18T10:00:00Z' },
      [403, 'foreign_click'],
    ],
    ['410 before 422', { click_id: 'old', event_id: 'none', payout: '999' }, [410, 'click_too_old']],
    [
      '422 for more than an hour before the click',
      { click_id: 'good', occurred_at: '2026-11-18T08:59:59.999Z', event_id: 'none' },
      [422, 'before_click'],
    ],
    ['200 for an hour before it', { click_id: 'good', occurred_at: '2026-11-18T09:00:00Z' }, [200, 'recorded']],
    [
      '200 for one taken back before it',
      { click_id: 'good', occurred_at: '2020-11-18T09:00:00Z', status: 'reject' },
      [200, 'recorded'],
    ],
    ['422 for a milestone', { click_id: 'good', event_id: 'none' }, [422, 'unknown_event']],
    ['422 for a payout', { click_id: 'good', payout: '25.000001' }, [422, 'payout_too_high']],
    [
      '422 for a payout of a milestone',
      { click_id: 'good', event_id: 'level-5', payout: '5.01' },
      [422, 'payout_too_high'],
    ],
    ['422 for a currency', { click_id: 'good', payout: '1', currency: 'EUR' }, [422, 'no_rate']],
    ['200', { click_id: 'good', payout: '25' }, [200, 'recorded']],
    ['200 for an old one taken back', { click_id: 'old', status: 'chargeback', payout: '26' }, [200, 'recorded']],
  ] as const)('%s', async (_what, { click_id, ...fields }: { click_id?: string; [name: string]: string }, expected) => {
    await using test = await HandlerUnderTest.create();
    const clicks = { good: test.click(), foreign: test.click(8), old: test.ids.mint(7, start - 30 * day - 1) };
    const id = click_id === undefined ? {} : { click_id: clicks[click_id as 'good'] ?? click_id };
    expect(saying(await test.get({ ...fields, ...id }))).toEqual(expected);
    expect(test.rows).toHaveLength(expected[0] === 200 ? 1 : 0);
  });

  it.each([
    { payout: '1e3' },
    { payout: '-1' },
    { payout: '{payout}' },
    { payout: '1,5' },
    { payout: '0.1234567' },
    { transaction_id: '{transaction_id}' },
    { transaction_id: '[TID]' },
    { event_id: '%goal%' },
    { status: 'maybe' },
    { currency: '€' },
    { occurred_at: 'yesterday' },
    { occurred_at: '2026-11-18T10:00:00' },
    { occurred_at: '2026-11-19T10:00:01Z' },
    { click_id: 'ünknown' },
    { click_id: '' },
    { event_id: 'x'.repeat(257) },
  ])('400 for %j, naming the parameter', async (fields) => {
    await using test = await HandlerUnderTest.create();
    const answer = await test.get({ click_id: test.click(), ...fields });
    expect(saying(answer)).toEqual([400, 'invalid_parameter']);
    expect(JSON.parse(answer.body)).toMatchObject({
      message: expect.stringContaining(Object.keys(fields)[0] as string),
    });
  });

  it('400 for a parameter given twice, in the query, in the body or in both', async () => {
    await using test = await HandlerUnderTest.create();
    const click_id = test.click();
    const query = `token=${token}&click_id=${click_id}`;
    const post = (type: string, body: string) =>
      test.receive({ method: 'POST', query, headers: { 'content-type': type }, body: Buffer.from(body) });
    const answers = [
      await test.receive({ query: `${query}&payout=1&payout=1` }),
      await test.receive({ query: `${query}&click%5Fid=${click_id}` }),
      await post('application/x-www-form-urlencoded', `click_id=${click_id}`),
      await post('application/json', '{"payout":1,"payout":2}'),
      await post('application/json', '{"a":{"b":1},"a.b":2}'),
    ];
    expect(answers.map(saying)).toEqual(answers.map(() => [400, 'invalid_parameter']));
  });

  it('400 for what cannot be read', async () => {
    await using test = await HandlerUnderTest.create();
    const query = `token=${token}&click_id=${test.click()}`;
    const post = (type: string | undefined, body: string | Buffer, more = {}) =>
      test.receive({
        method: 'POST',
        query,
        headers: { ...(type && { 'content-type': type }), ...more },
        body: Buffer.from(body),
      });
    const answers = [
      await test.receive({ query: `${query}&transaction_id=%ff` }),
      await test.receive({ query: `${query}&transaction_id=%` }),
      await post('application/json', '[1]'),
      await post('application/json', '{'),
      await post('application/json', Buffer.from([0x7b, 0xff, 0x7d])),
      await post('application/json', Buffer.from('{"transaction_id":"caf\xe9"}', 'latin1')),
      await post('application/x-www-form-urlencoded', Buffer.from('transaction_id=caf\xe9', 'latin1')),
      await post('multipart/form-data; boundary=b', 'a=b'),
      await post('multipart/form-data', '--b--'),
      await post('text/plain', 'a=b'),
      await post(undefined, 'a=b'),
      await post('application/json', '{}', { 'content-encoding': 'gzip' }),
    ];
    expect(answers.map(saying)).toEqual(answers.map(() => [400, 'invalid_parameter']));
  });

  it('404 for an id with one character changed, wherever', async () => {
    await using test = await HandlerUnderTest.create();
    const click_id = test.click();
    for (let at = 0; at < click_id.length; at++) {
      const other = click_id[at] === '7' ? '8' : '7';
      const tampered = click_id.slice(0, at) + other + click_id.slice(at + 1);
      expect(saying(await test.get({ click_id: tampered }))).toEqual([404, 'unknown_click']);
    }
  });

  it('503 where it cannot be recorded, whatever the source wishes; the next try is recorded', async () => {
    await using test = await HandlerUnderTest.create({ postback: { token, always_200: true, reply: 'OK' } });
    test.sink.before = () => Promise.reject(new NotRecordedError('the disk is full'));
    const click_id = test.click();
    const answers = await Promise.all([test.get({ click_id }), test.get({ click_id })]);
    expect(answers.map(saying)).toEqual([
      [503, 'not_recorded'],
      [503, 'not_recorded'],
    ]);
    expect(answers[0]?.headers).toMatchObject({ 'retry-after': '5' });
    test.sink.before = () => Promise.resolve();
    expect((await test.get({ click_id })).outcome).toBe('recorded');
    expect(test.rows).toHaveLength(1);
  });
});

describe('a click that the tracker did not make', () => {
  it('is looked up as it was sent', async () => {
    const asked: string[] = [];
    await using test = await HandlerUnderTest.create({
      imported: async (clickId) => {
        asked.push(clickId);
        return clickId === 'C-1' ? { clickId, offerId: 7, clickedAt: start - day } : undefined;
      },
    });
    expect(saying(await test.get({ click_id: 'C-1' }))).toEqual([200, 'recorded']);
    expect(saying(await test.get({ click_id: 'C-2' }))).toEqual([404, 'unknown_click']);
    expect(asked).toEqual(['C-1', 'C-2']);
  });

  it('is foreign while its offer is unknown, and 503 where it cannot be looked up', async () => {
    await using test = await HandlerUnderTest.create({
      imported: async (clickId) => {
        if (clickId === 'C-9') throw new Error('the snapshot is gone');
        return { clickId, offerId: undefined, clickedAt: start };
      },
    });
    expect(saying(await test.get({ click_id: 'C-1' }))).toEqual([403, 'foreign_click']);
    expect(saying(await test.get({ click_id: 'C-9' }))).toEqual([503, 'not_recorded']);
  });
});

describe('an answer', () => {
  it('of a source that switches off after errors is 200 for all that is authentic', async () => {
    await using test = await HandlerUnderTest.create({ postback: { token, always_200: true } });
    expect(saying(await test.get({ click_id: 'nobody' }))).toEqual([200, 'unknown_click']);
    expect((await test.get({ click_id: 'nobody', token: 'wrong' })).status).toBe(401);
  });

  it('of a source that looks for a word is that word', async () => {
    await using test = await HandlerUnderTest.create({ postback: { token, reply: 'OK' } });
    expect(await test.get({ click_id: test.click() })).toMatchObject({
      status: 200,
      body: 'OK',
      contentType: 'text/plain; charset=utf-8',
      outcome: 'recorded',
    });
    expect(saying(await test.get({ click_id: 'nobody' }))).toEqual([404, 'unknown_click']);
  });
});
