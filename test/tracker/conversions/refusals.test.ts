import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rename, rmdir, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OfferlineError } from '../../../src/kit/errors/errors.ts';
import { replayRefused, type ReplayRequest } from '../../../src/tracker/conversions/replay.ts';
import { HandlerUnderTest, replayKey, saying, start, token } from './handler-under-test.ts';

const day = 86_400_000;

/** The handler behind a real socket. */
async function listening(test: HandlerUnderTest) {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray());
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const source = decodeURIComponent(path.replace('/postback/', ''));
    const { headers } = request;
    const given = await test.handler.receive({ source, method: 'POST', query, headers, body, address: '127.0.0.1' });
    response.writeHead(given.status, { ...given.headers, 'content-type': given.contentType }).end(given.body);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await writeFile(test.data.replayKeyFile, replayKey);
  return {
    tracker: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function replay(test: HandlerUnderTest, request: Partial<ReplayRequest> & { tracker: string }) {
  const warnings: string[] = [];
  const groups = await replayRefused({
    data: test.data,
    sinceDay: '2026-01-01',
    dryRun: false,
    isReporting: () => true,
    warn: (message) => warnings.push(message),
    ...request,
  });
  return { groups, warnings };
}

async function kept(test: HandlerUnderTest): Promise<string> {
  await test.refusals.settled();
  const files = await readdir(test.data.refusedConversions).catch((): string[] => []);
  const texts = await Promise.all(
    files.toSorted().map((file) => readFile(join(test.data.refusedConversions, file), 'utf8')),
  );
  return texts.join('');
}

describe('a refused report', () => {
  it('is kept where its sender is known, without what let it pass', async () => {
    const postback = {
      token,
      signature: { scheme: 'md5', secret: 'the-secret-of-the-md5', template: '{secret}', parameter: 'sig' },
    };
    await using test = await HandlerUnderTest.create({ postback });
    const sig = 'fe3b7bd2ba1cfd4aca0f3de24d6d9ac0';
    expect(saying(await test.get({ click_id: 'nobody', sig }))).toEqual([401, 'unauthorized']);
    expect(await kept(test)).toBe('');
    await test.configure({ token });
    await test.open();
    await test.get({ click_id: 'nobody', payout: '1.10', comment: `my token is ${token}`, [`${token}x`]: '1' });
    const text = await kept(test);
    expect(JSON.parse(text)).toEqual({
      received_at: '2026-11-18T10:00:00.000Z',
      source: 'north',
      reason: 'unknown_click',
      parameters: [
        ['click_id', 'nobody'],
        ['payout', '1.10'],
        ['comment', 'my token is •••'],
        ['•••x', '1'],
      ],
    });
    expect(test.logged.join('')).not.toContain(token);
    expect((await stat(test.data.refusedConversions)).mode & 0o777).toBe(0o700);
    expect((await stat(join(test.data.refusedConversions, '2026-11-18.north.ndjson'))).mode & 0o777).toBe(0o600);
  });

  it('is kept for 90 days, and 16 MiB of a day and source', async () => {
    const others = [{ source: 'south', postback: { token } }];
    await using test = await HandlerUnderTest.create({ others });
    await test.get({ click_id: 'nobody' });
    const reason = 'x'.repeat(1024 * 1024);
    for (let report = 0; report < 17; report++) await test.get({ click_id: 'nobody', reason });
    const size = Buffer.byteLength(await kept(test));
    expect(size).toBeGreaterThan(15 * 1024 * 1024);
    expect(size).toBeLessThan(16 * 1024 * 1024);
    expect(test.logged.filter((line) => line.includes('16 MiB are full'))).toHaveLength(1);
    await test.get({ click_id: 'of-the-other' }, { source: 'south' });
    expect(await kept(test)).toContain('of-the-other');
    test.now += 91 * day;
    await test.get({ click_id: 'later' });
    await kept(test);
    test.now += day;
    await test.get({ click_id: 'latest' });
    const left = (await kept(test)).trim().split('\n');
    expect(left).toEqual([expect.stringContaining('later'), expect.stringContaining('latest')]);
  });

  it('is kept where a clock was ahead for a moment', async () => {
    await using test = await HandlerUnderTest.create();
    await test.get({ click_id: 'before' });
    test.now += 200 * day;
    await test.get({ click_id: 'ahead' });
    test.now -= 199 * day;
    await test.get({ click_id: 'after' });
    const left = (await kept(test)).trim().split('\n');
    expect(left).toEqual(['before', 'after', 'ahead'].map((click) => expect.stringContaining(click) as string));
  });

  it('is let go where a thousand wait for the disk', async () => {
    await using test = await HandlerUnderTest.create();
    await Promise.all(Array.from({ length: 1200 }, () => test.get({ click_id: 'nobody' })));
    expect((await kept(test)).trim().split('\n')).toHaveLength(1000);
    await test.get({ click_id: 'later' });
    expect(await kept(test)).toContain('later');
  });

  it('is kept whole but for parameters that nesting makes long', async () => {
    await using test = await HandlerUnderTest.create({ postback: { token, parameters: { reason: 'deep.reason' } } });
    const leaves = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [n, n]));
    const json = { click_id: 'nobody', deep: { reason: 'r'.repeat(1000), ['path'.repeat(60)]: leaves } };
    const body = Buffer.from(JSON.stringify(json));
    expect(body.length).toBeLessThan(16 * 1024);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    expect(saying(await test.receive({ method: 'POST', headers, body }))).toEqual([404, 'unknown_click']);
    const line = await kept(test);
    expect(line.length).toBeLessThan(66 * 1024);
    const { parameters, left_out } = JSON.parse(line) as { parameters: [string, string][]; left_out: number };
    expect(parameters.slice(0, 2)).toEqual([
      ['click_id', 'nobody'],
      ['deep.reason', 'r'.repeat(1000)],
    ]);
    expect(parameters.length + left_out).toBe(402);
    expect(left_out).toBeGreaterThan(100);
    const torn = Buffer.from(JSON.stringify(json).replaceAll(/:(\d+)/g, ':"\u00ff$1"'), 'latin1');
    test.now += day;
    await test.receive({ method: 'POST', headers, body: torn });
    expect((await kept(test)).length - line.length).toBeLessThan(130 * 1024);
  });

  it('is kept where its folder was moved since', async () => {
    await using test = await HandlerUnderTest.create();
    await test.get({ click_id: 'before' });
    await test.refusals.settled();
    await rename(test.data.refusedConversions, join(test.data.root, 'elsewhere'));
    await test.get({ click_id: 'after' });
    expect(await kept(test)).toContain('after');
  });

  it('that cannot be kept is answered as ever', async () => {
    await using test = await HandlerUnderTest.create();
    await writeFile(test.data.refusedConversions, 'a file where the folder should be');
    expect(saying(await test.get({ click_id: 'nobody' }))).toEqual([404, 'unknown_click']);
    await test.refusals.settled();
    expect(test.logged.join('')).toContain('could not be kept');
  });
});

it('a refused report after one that a full disk cut off is whole', async () => {
  await using test = await HandlerUnderTest.create();
  const file = join(test.data.refusedConversions, '2026-11-18.north.ndjson');
  const report = async (click_id: string) => {
    await test.get({ click_id });
    await test.refusals.settled();
  };
  await report('first');
  await rename(file, `${file}.kept`);
  // Where a file should be: nothing can be added to it.
  await mkdir(file);
  await report('cut-off');
  await rmdir(file);
  await rename(`${file}.kept`, file);
  await appendFile(file, '{"received_at":"20');
  await report('third');
  const lines = (await kept(test)).split('\n');
  expect([lines[0], lines[2]]).toEqual([expect.stringContaining('first'), expect.stringContaining('third')]);
});

describe('a replay', () => {
  const none = { recorded: 0, duplicate: 0, refused: 0, passed_over: 0 };

  it('records what holds by now, as of when it first came, and nothing twice', async () => {
    await using test = await HandlerUnderTest.create({ postback: { token, always_200: true, reply: 'OK' } });
    const [open, late] = [test.click(), test.ids.mint(7, start - 29 * day)];
    await test.get({ sub: open, tid: 'T1', payout: '1' });
    await test.get({ sub: late, tid: 'T2' });
    await test.get({ click_id: 'nobody', tid: 'T3' });
    await test.get({ click_id: open, tid: 'T4', payout: '999' });
    await test.refusals.settled();
    // A kill in the middle of a line.
    await appendFile(join(test.data.refusedConversions, '2026-11-18.north.ndjson'), '{"received_at":"20');
    await test.configure({
      token,
      parameters: { click_id: 'sub', transaction_id: 'tid' },
      always_200: true,
      reply: 'OK',
    });
    test.now += 5 * day;
    await test.open();
    await using server = await listening(test);
    const expected = [{ source: 'north', reason: 'invalid_parameter', reports: 2, ...none, recorded: 2 }];
    const rest = [
      { source: 'north', reason: 'unknown_click', reports: 1, ...none, refused: 1 },
      { source: 'north', reason: 'payout_too_high', reports: 1, ...none, refused: 1 },
    ];
    const before = await kept(test);
    expect((await replay(test, { ...server, dryRun: true })).groups.map(({ reports }) => reports)).toEqual([2, 1, 1]);
    expect(test.rows).toEqual([]);
    const { groups, warnings } = await replay(test, server);
    expect(groups).toEqual([...expected, ...rest]);
    expect(warnings).toEqual([expect.stringContaining('2026-11-18.north.ndjson, line 5')]);
    expect(test.rows).toMatchObject([
      { conversion_id: 'north:T1', click_id: open, occurred_at: '2026-11-18T10:00:00Z', payout: 1 },
      { conversion_id: 'north:T2', click_id: late, occurred_at: '2026-11-18T10:00:00Z' },
    ]);
    expect((await replay(test, server)).groups[0]).toMatchObject({ recorded: 0, duplicate: 2 });
    expect(test.rows).toHaveLength(2);
    expect(await kept(test)).toBe(before);
    expect((await replay(test, { ...server, sinceDay: '2026-11-19' })).groups).toEqual([]);
  });

  it('passes over what the tracker cannot take, and goes on behind it', async () => {
    await using test = await HandlerUnderTest.create({ offers: new Map() });
    await test.get({ click_id: test.click(), transaction_id: 'T1' });
    await test.refusals.settled();
    const file = join(test.data.refusedConversions, '2026-11-18.north.ndjson');
    const first = JSON.parse(await readFile(file, 'utf8')) as { parameters: [string, string][] };
    // As it was kept before there was a bound.
    const long = { ...first, parameters: [...first.parameters, ['x', 'x'.repeat(300_000)]] };
    await writeFile(file, [long, first].map((each) => `${JSON.stringify(each)}\n`).join(''));
    await using server = await listening(test);
    const { groups, warnings } = await replay(test, server);
    expect(groups).toEqual([
      { source: 'north', reason: 'foreign_click', reports: 2, ...none, refused: 1, passed_over: 1 },
    ]);
    expect(warnings).toEqual([
      'a report of north of 2026-11-18T10:00:00.000Z cannot be replayed and stays where it is: it is longer than 262144 bytes',
    ]);
  });

  it('goes on behind the torn line that a kill leaves', async () => {
    await using test = await HandlerUnderTest.create();
    await test.get({ click_id: 'one' });
    await test.refusals.settled();
    await appendFile(join(test.data.refusedConversions, '2026-11-18.north.ndjson'), '{"received_at":"20');
    await test.open();
    await test.get({ click_id: 'two' });
    await test.refusals.settled();
    await using server = await listening(test);
    expect((await replay(test, server)).groups).toMatchObject([{ reports: 2, refused: 2 }]);
  });

  it('is refused without the tracker’s own key', async () => {
    await using test = await HandlerUnderTest.create();
    await test.get({ click_id: 'nobody' });
    await test.refusals.settled();
    await using server = await listening(test);
    await writeFile(test.data.replayKeyFile, 'another key');
    await expect(replay(test, server)).rejects.toThrow('is not that of');
    const body = Buffer.from((await kept(test)).trim());
    const headers = { authorization: `Offerline-Replay ${replayKey}`, 'content-type': 'application/json' };
    expect((await test.receive({ source: 'south', method: 'POST', headers, body })).status).toBe(401);
    expect((await test.receive({ method: 'POST', headers, body: Buffer.from('{}') })).status).toBe(401);
    expect((await test.receive({ method: 'POST', headers, body })).status).toBe(404);
  });

  it.each([
    // As the publishers' listener answers.
    [404, '{"error": "not_found", "message": "there is no such path"}'],
    [404, '<h1>Not Found</h1>'],
    [403, '{"error": "forbidden"}'],
    [200, '<h1>Welcome</h1>'],
    [200, 'null'],
  ])('says what to do where another server answers: %i %s', async (status, body) => {
    await using test = await HandlerUnderTest.create();
    await test.get({ click_id: 'nobody' });
    await test.refusals.settled();
    await writeFile(test.data.replayKeyFile, replayKey);
    await using other = createServer((_, response) => void response.writeHead(status).end(body)).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const message = `answers at http://127.0.0.1:${port}, with ${status}, is no tracker of this version: name the right`;
    await expect(replay(test, { tracker: `http://127.0.0.1:${port}` })).rejects.toThrow(message);
  });

  it('says what to do where no tracker runs', async () => {
    await using test = await HandlerUnderTest.create();
    await test.get({ click_id: 'nobody' });
    await test.refusals.settled();
    const tracker = 'http://127.0.0.1:9';
    await expect(replay(test, { tracker })).rejects.toThrow('offerline track');
    await writeFile(test.data.replayKeyFile, replayKey);
    await expect(replay(test, { tracker })).rejects.toThrow(OfferlineError);
  });
});
