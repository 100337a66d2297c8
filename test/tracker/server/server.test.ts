import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createTracker } from '../../../src/tracker/tracker.ts';
import { acquireTrackerLock } from '../../../src/tracker/tracker-lock.ts';
import { chrome, clickIdOf, route, secret, start, TrackerUnderTest } from '../tracker-under-test.ts';

const tokenOfNorth = 'a-token-of-the-source-0123456789';

it('is alive at once, and ready when there are routes and room', async () => {
  let free = 2 ** 40;
  await using test = await TrackerUnderTest.start({ files: { freeBytes: async () => free } });
  const ready = async () => (await test.ask('/readyz')).status;
  expect([(await test.ask('/healthz')).status, await ready()]).toEqual([200, 503]);
  expect(await test.outcome('/redirect/manual-offer/1/user/u/site/one')).toBe('503 not_recorded');
  await test.publish([route({ offer_id: 1, daily_click_cap: 1 })]);
  await test.tracker.poll();
  expect(await ready()).toBe(200);
  free = 1000;
  test.now = start + 1000;
  await test.tracker.tick();
  expect(await ready()).toBe(503);
  const refused = await test.click(1, 'u');
  expect([refused.status, refused.headers['retry-after'], refused.headers.location]).toEqual([503, '1', undefined]);
  free = 2 ** 40;
  test.now = start + 2000;
  await test.tracker.tick();
  // Refused, it was no first click, and took nothing of a cap.
  const click = await test.click(1, 'u');
  expect(click.status).toBe(302);
  await test.stop();
  expect(test.rows().map(({ click_id }) => click_id)).toEqual([clickIdOf(click)]);
});

it('logs a poll that fails while it is asked whether it is ready', async () => {
  await using test = await TrackerUnderTest.start({ routes: [] });
  const lines: string[] = [];
  const log = (await import('pino')).pino(
    {},
    {
      write(line: string) {
        // As a full disk refuses a line of the log.
        if (line.includes('sites.json cannot be used')) throw new Error('no room for this line');
        lines.push(line);
      },
    },
  );
  const effects = { ...realEffects, now: () => start };
  const other = await createTracker({ data: test.data, settings: test.settings, log, effects, repeat: () => () => {} });
  const address = await other.listen({ host: '127.0.0.1', port: 0 });
  writeFileSync(test.data.sitesFile, '{');
  expect((await fetch(`${address}/readyz`)).status).toBe(200);
  await other.close();
  expect(lines.join('')).toMatch(/no room for this line.*"msg":"polling for sites, .* failed; will retry"/);
});

it('measures what it does, without a word of who did it', async () => {
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1 }), route({ offer_id: 2, status: 'vanished' })],
    sources: [{ source: 'north', postback: { token: tokenOfNorth } }],
  });
  const id = clickIdOf(await test.click(1, 'a-user-nobody-may-know?sub1=a-sub-nobody-may-know'.replace('?', '%3F')));
  await test.click(2, 'u');
  await test.ask(`/postback/north?token=${tokenOfNorth}&click_id=${id}&status=approved`);
  await test.ask(`/postback/north?token=wrong-token&click_id=${id}`);
  await test.ask('/postback/made-up-name?token=wrong-token');
  expect(await test.metric('offerline_tracker_clicks_total{outcome="click"}')).toBe(1);
  expect(await test.metric('offerline_tracker_clicks_total{outcome="offer_gone"}')).toBe(1);
  expect(await test.metric('offerline_tracker_postbacks_total{source="north",outcome="recorded"}')).toBe(1);
  expect(await test.metric('offerline_tracker_postbacks_total{source="",outcome="unauthorized"}')).toBe(2);
  expect(await test.metric('offerline_tracker_append_seconds_count{kind="clicks"}')).toBe(1);
  expect(await test.metric('offerline_tracker_batch_rows_sum{kind="clicks"}')).toBe(1);
  expect(await test.metric('offerline_tracker_part_bytes{kind="clicks"}')).toBeGreaterThan(100);
  expect(await test.metric('offerline_tracker_ready')).toBe(1);
  const { body } = await test.ask('/metrics');
  await test.stop();
  expect(test.logged.join('')).toContain('"clicks_click":1');
  for (const written of [body, ...test.logged])
    for (const hidden of ['nobody-may-know', tokenOfNorth, 'wrong-token', secret, '127.0.0.1', 'made-up-name', id])
      expect(written).not.toContain(hidden);
});

it('measures only what its page explains', async () => {
  await using test = await TrackerUnderTest.start({ routes: [] });
  const { body } = await test.ask('/metrics');
  const page = readFileSync(new URL('../../../src/tracker/README.md', import.meta.url), 'utf8');
  const names = [...body.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
});

it('answers what Node would answer by itself, with the headers that all answers have', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const { port } = new URL(test.address);
  const link = '/redirect/manual-offer/1/user/u/site/one';
  const answered = async (line: string, header: string) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`${line} HTTP/1.1\r\nHost: h\r\nUser-Agent: ${chrome}\r\nConnection: close\r\n${header}\r\n`);
    const said = await text(socket);
    expect(said).toMatch(/cache-control: no-store\r\nreferrer-policy: no-referrer\r\n/);
    return said.slice(9, 12);
  };
  expect(await answered(`GET ${link}`, 'Expect: tea\r\n')).toBe('302');
  expect(await answered(`GET http://click.example${link}2`, '')).toBe('404');
  expect(await answered(`GET http://click.example/redirect/manual-offer/1/user/v/site/one`, '')).toBe('302');
  expect(await answered(`GET ${link}?sub1=${'x'.repeat(9000)}`, '')).toBe('414');
  expect(await answered(`GET ${link}?sub1=${'x'.repeat(17_000)}`, '')).toBe('431');
  expect(await answered('GET', '')).toBe('400');
});

it('counts links and reports whose addresses are not percent-encoded, and says what to do', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const { port } = new URL(test.address);
  const answered = async (target: string) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    return text(socket);
  };
  for (const name of ['My offer', 'Café', 'tab\there'])
    for (const path of ['/postback/north', '/redirect/manual-offer/1/user/u/site/one', '/'])
      expect(await answered(`${path}?token=${tokenOfNorth}&sub1=${name}`)).toMatch(
        /^HTTP\/1\.1 400 .*\r\n\r\nThe address has a blank, or a character that is not percent-encoded: encode it, and send the request again\.\n$/s,
      );
  expect(await test.metric('offerline_tracker_postbacks_total{source="",outcome="unreadable"}')).toBe(3);
  expect(await test.metric('offerline_tracker_clicks_total{outcome="unreadable"}')).toBe(3);
  await test.stop();
  const logged = test.logged.join('');
  expect(logged).toContain('"postbacks_unreadable":3');
  expect(logged).not.toContain(tokenOfNorth);
});

it('answers what is no path of its own with 404, and what is too large with 413', async () => {
  await using test = await TrackerUnderTest.start({ routes: [] });
  expect(await test.outcome('/')).toBe('404 not_found');
  expect(await test.outcome('/healthz', {}, 'DELETE')).toBe('404 not_found');
  expect(await test.outcome('/postback/a/b')).toBe('404 not_found');
  expect(await test.outcome('/postback/%ff')).toBe('404 not_found');
  expect(await test.outcome('/postback/north', {}, 'PUT')).toBe('405 wrong_method');
  expect((await test.ask('/postback/north', {}, 'POST', 'x'.repeat(16 * 1024 + 1))).status).toBe(413);
});

it('takes a conversion by a POST that has neither a body nor a word of one', async () => {
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1 })],
    sources: [{ source: 'north', postback: { token: tokenOfNorth } }],
  });
  const id = clickIdOf(await test.click(1, 'u'));
  const { hostname, port } = new URL(test.address);
  const socket = connect({ host: hostname, port: Number(port) });
  const path = `/postback/north?token=${tokenOfNorth}&click_id=${id}&status=approved`;
  socket.write(`POST ${path} HTTP/1.1\r\nHost: tracker.example\r\nConnection: close\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*"recorded"/s);
});

it('routes that are swapped or broken under load never stop a click', async () => {
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1 })],
    settings: { trusted_proxies: ['127.0.0.1'] },
  });
  let user = 0;
  const over = new AbortController();
  const clicking = Array.from({ length: 8 }, async () => {
    const found: number[] = [];
    while (!over.signal.aborted) {
      const n = ++user;
      found.push((await test.click(1, `u${n}`, { 'x-forwarded-for': `198.51.${n >> 8}.${n & 255}` })).status);
    }
    return found;
  });
  for (let round = 0; round < 10; round++) {
    await test.publish([route({ offer_id: 1, payout: String(round) }), route({ offer_id: 2 + round })]);
    await test.tracker.poll();
    writeFileSync(test.data.currentRoutes, '{"format":1}\n{');
    await test.tracker.poll();
  }
  over.abort();
  const found = (await Promise.all(clicking)).flat();
  expect(found.length).toBeGreaterThan(20);
  expect(new Set(found)).toEqual(new Set([302]));
  await test.stop();
  expect(test.rows()).toHaveLength(found.length);
});

it('sites that are changed count from the next look on; a broken file changes nothing', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const outcome = () => test.outcome('/redirect/manual-offer/1/user/u/site/one');
  test.writeSites([{ site_key: 'one', site_secret: secret, status: 'pending' }]);
  expect(await outcome()).toBe('302');
  await test.tracker.poll();
  expect(await outcome()).toBe('403 site_pending');
  writeFileSync(test.data.sitesFile, '{');
  await test.tracker.poll();
  expect(await outcome()).toBe('403 site_pending');
});

it.each([
  ['process', 'to be forced to it', 1000],
  ['power', 'to be handed over', 60_000],
] as const)('in mode "%s" nobody waits behind a disk that stalls with what is %s', async (durability, _what, after) => {
  const back = Promise.withResolvers<void>();
  const disk = { answers: Promise.resolve(), appended: 0 };
  const openLog: typeof realEffects.files.openLog = async (path, step, isForced) => {
    const file = await realEffects.files.openLog(path, step, isForced);
    return {
      append: async (bytes, appending) => {
        disk.appended++;
        await disk.answers;
        return file.append(bytes, appending);
      },
      sync: async (syncing) => {
        await disk.answers;
        await file.sync(syncing);
      },
      truncate: (bytes, cutting) => file.truncate(bytes, cutting),
      isAt: (at) => file.isAt(at),
      read: (at, bytes) => file.read(at, bytes),
      close: () => file.close(),
    };
  };
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1 })],
    settings: { tracker: { durability } },
    files: { openLog: openLog },
  });
  expect((await test.click(1, 'before')).status).toBe(302);
  disk.answers = back.promise;
  test.now += after;
  const looking = test.tracker.tick();
  const underWay = test.click(1, 'during');
  while (disk.appended < 2) await test.ask('/healthz');
  const waiting = test.click(1, 'waiting');
  while ((await test.metric('offerline_tracker_waiting_rows{kind="clicks"}')) !== 2);
  test.now += 2001;
  const next = test.tracker.tick();
  expect((await waiting).status).toBe(503);
  back.resolve();
  await Promise.all([looking, next]);
  // It may have reached the disk at any time: only the disk knew what to answer.
  expect((await underWay).status).toBe(302);
});

it('a stop lets clients go that never cease to ask, and cuts none of them off', async () => {
  const begun = Promise.withResolvers<void>();
  const stopping = Promise.withResolvers<void>();
  const openLog: typeof realEffects.files.openLog = async (...opened) => {
    begun.resolve();
    await stopping.promise;
    return realEffects.files.openLog(...opened);
  };
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1 })],
    files: { openLog: openLog },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { address } = test;
  let answered = 0;
  /** Gives whether the connection stays. */
  const click = () => {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const url = new URL(`/redirect/manual-offer/1/user/${answered}/site/one`, address);
    const sent = get(url, { agent, headers: { 'user-agent': chrome } }, (answer) => {
      answer.resume();
      if (answer.statusCode === 302) answered++;
      resolve(answer.headers.connection === 'keep-alive');
    });
    // A connection that was let go while nobody used it was not cut.
    sent.on('error', (error) => (sent.reusedSocket ? resolve(false) : reject(error)));
    return promise;
  };
  const first = click();
  await begun.promise;
  const stopped = test.stop();
  stopping.resolve();
  if (await first) while (await click());
  await stopped;
  expect(test.rows()).toHaveLength(answered);
  // The one that waited then, and one whose connection was ended by its answer.
  expect(answered).toBeLessThanOrEqual(2);
});

it('reports a port that is taken, and lets one tracker work on a landing folder', async () => {
  await using test = await TrackerUnderTest.start({ routes: [] });
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as { port: number };
  const second = await createTracker({
    data: test.data,
    settings: test.settings,
    log: (await import('pino')).pino({ level: 'silent' }),
    repeat: () => () => undefined,
    effects: realEffects,
  });
  await expect(second.listen({ host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  other.close();
  const lock = await acquireTrackerLock(test.data, { command: 'track', waitSeconds: 0, onWaiting: () => {} });
  await expect(
    acquireTrackerLock(test.data, { command: 'track', waitSeconds: 0, onWaiting: () => {} }),
  ).rejects.toMatchObject({ exitCode: 3 });
  lock.release();
});
