import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PictureRequests } from '../../src/pictures/picture-request.ts';
import { begin, day, hour, MirroredData } from './mirrored-data.ts';
import { picture, PictureServer, type PictureKind } from './picture-server.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('what is mirrored', () => {
  it.for<[PictureKind, string]>([
    ['png', 'image/png'],
    ['jpg', 'image/jpeg'],
    ['gif', 'image/gif'],
    ['webp', 'image/webp'],
    ['avif', 'image/avif'],
  ])('%s, by its bytes, whatever its name and its server say', async ([kind, type]) => {
    await using server = await PictureServer.start();
    const bytes = picture(kind);
    server.paths.set('/banner.svg', (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(bytes),
    );
    const source = server.at('/banner.svg');
    const mirrored = await MirroredData.create(source);
    expect(await mirrored.served(source)).toBe(302);
    expect(await mirrored.mirror()).toMatchObject({ wanted: 1, asked: 1, mirrored: 1, failed: 0, failing: [] });
    expect(await mirrored.files()).toEqual([`${sha256(bytes)}.${kind}`]);
    const response = await mirrored.visit(source);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  });

  it('AVIF that names itself among its compatible brands, but no other picture of that family', async () => {
    await using server = await PictureServer.start();
    const box = (brands: string) =>
      Buffer.from(`\0\0\0\x18ftyp${brands.slice(0, 4)}\0\0\0\0${brands.slice(4)}`, 'latin1');
    server.paths.set('/avif', box('mif1miafavif')).set('/heic', box('heicmif1heic'));
    const mirrored = await MirroredData.create(server.at('/avif'), server.at('/heic'));
    expect(await mirrored.mirror()).toMatchObject({ mirrored: 1, problems: { not_a_picture: 1 } });
    expect((await mirrored.visit(server.at('/avif'))).headers.get('content-type')).toBe('image/avif');
  });

  it('5 MB, and not a byte more, whatever is said of the length', async () => {
    await using server = await PictureServer.start();
    const most = picture('png', 'x', 5_000_000);
    const more = picture('png', 'x', 5_000_001);
    const inChunks = (bytes: Buffer) => (_request: unknown, response: ServerResponse) => {
      response.writeHead(200);
      response.write(bytes.subarray(0, 100));
      response.end(bytes.subarray(100));
    };
    server.paths.set('/most', most).set('/most-chunked', inChunks(most));
    server.paths.set('/more', more).set('/more-chunked', inChunks(more));
    const sources = [...server.paths.keys()].map((path) => server.at(path));
    const mirrored = await MirroredData.create(...sources);
    expect(await mirrored.mirror()).toMatchObject({ mirrored: 2, failed: 2, problems: { too_large: 2 } });
    expect(await mirrored.files()).toEqual([`${sha256(most)}.png`]);
    const served = await Promise.all(sources.map((source) => mirrored.served(source)));
    expect(served.map((each) => (typeof each === 'number' ? each : each.length))).toEqual([
      5_000_000, 5_000_000, 302, 302,
    ]);
  });

  it('the same bytes at two addresses are one file', async () => {
    await using server = await PictureServer.start();
    server.paths.set('/one.png', picture('png')).set('/two.png', picture('png'));
    const mirrored = await MirroredData.create(server.at('/one.png'), server.at('/two.png'));
    expect(await mirrored.mirror()).toMatchObject({ mirrored: 2 });
    expect(await mirrored.files()).toHaveLength(1);
    for (const path of ['/one.png', '/two.png']) expect(await mirrored.served(server.at(path))).toEqual(picture('png'));
  });

  it('sends an advertiser nothing but the request', async () => {
    await using server = await PictureServer.start();
    server.paths.set('/one.png', picture('png'));
    const mirrored = await MirroredData.create(server.at('/one.png'));
    await mirrored.mirror();
    const { 'user-agent': agent, 'accept-encoding': coding, ...others } = server.requests[0]?.headers ?? {};
    expect([agent, coding]).toEqual(['offerline', 'identity']);
    expect(Object.keys(others).toSorted()).toEqual(['accept', 'connection', 'host']);
  });
});

describe('what cannot be had', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  it.for<[what: string, problem: string, answer: (response: ServerResponse) => void]>([
    ['SVG that is called PNG', 'not_a_picture', (response) => response.setHeader('content-type', 'image/png').end(svg)],
    ['a page', 'not_a_picture', (response) => response.end('<!doctype html><script>alert(1)</script>')],
    ['nothing', 'not_a_picture', (response) => response.end()],
    ['a picture that is cut within its first bytes', 'not_a_picture', (response) => response.end('\x89PNG')],
    [
      'a picture that is packed',
      'packed',
      (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(picture('png'))),
    ],
    ['404', 'http_404', (response) => response.writeHead(404).end(picture('png'))],
    ['a part', 'http_206', (response) => response.writeHead(206).end(picture('png'))],
    ['304 that nobody asked for', 'http_304', (response) => response.writeHead(304).end()],
    [
      'fewer bytes than announced',
      'connection',
      (response) => {
        response.writeHead(200, { 'content-length': 200 }).write(picture('png'));
        response.destroy();
      },
    ],
    ['no HTTP', 'bad_answer', (response) => response.socket?.end('what?\r\n\r\n')],
    ['nothing ever', 'timeout', () => undefined],
    [
      'bytes that drip',
      'timeout',
      (response) => {
        response.writeHead(200).write(picture('png'));
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      },
    ],
    ['a redirect to nowhere', 'bad_redirect', (response) => response.writeHead(302).end()],
    [
      'a redirect to a file',
      'bad_redirect',
      (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    ],
    ['a redirect to itself', 'redirects', (response) => response.writeHead(302, { location: '?' }).end()],
  ])('%s is a redirect as before, and holds up no other', async ([, problem, answer]) => {
    await using server = await PictureServer.start();
    server.paths
      .set('/bad.png', (_request, response) => answer(response))
      .set('/?', (_request, response) => answer(response));
    server.paths.set('/bad.png?', (_request, response) => answer(response)).set('/good.png', picture('png'));
    const [bad, good] = [server.at('/bad.png'), server.at('/good.png')];
    const mirrored = await MirroredData.create(bad, good);
    expect(await mirrored.mirror()).toMatchObject({
      mirrored: 1,
      failed: 1,
      problems: { [problem]: 1 },
      failing: [{ address: bad, error: problem, failures: 1, file: null }],
    });
    expect(await mirrored.served(bad)).toBe(302);
    expect(await mirrored.served(good)).toEqual(picture('png'));
    expect(await mirrored.files()).toHaveLength(1);
  });

  it('is asked for later and later, up to once a day, and as before once it was had', async () => {
    await using server = await PictureServer.start();
    const source = server.at('/late.png');
    const mirrored = await MirroredData.create(source);
    const asked: number[] = [];
    for (let hours = 0; hours <= 80; hours++) {
      await mirrored.mirror(begin + hours * hour);
      if (server.asked().length > 0) asked.push(hours);
    }
    expect(asked).toEqual([0, 1, 3, 7, 15, 31, 55, 79]);
    server.paths.set('/late.png', picture('png'));
    await mirrored.mirror(begin + 103 * hour);
    expect(await mirrored.served(source)).toEqual(picture('png'));
    server.paths.delete('/late.png');
    await mirrored.mirror(begin + 127 * hour);
    server.asked();
    await mirrored.mirror(begin + 128 * hour);
    expect(server.asked()).toEqual(['/late.png']);
    // What was had once is better than nothing.
    expect(await mirrored.served(source)).toEqual(picture('png'));
  });

  it('a host without answers is left for the next pass after five', async () => {
    await using server = await PictureServer.start();
    server.paths.set('/good.png', picture('png'));
    const gone = await PictureServer.start();
    const lost = Array.from({ length: 30 }, (_, place) => gone.at(`/${place}.png`));
    await gone[Symbol.asyncDispose]();
    const mirrored = await MirroredData.create(...lost, server.at('/good.png'));
    const first = await mirrored.mirror();
    expect(first).toMatchObject({ mirrored: 1 });
    expect(first.failed).toBeGreaterThanOrEqual(5);
    // One more may be under way when the fifth fails.
    expect(first.failed).toBeLessThanOrEqual(6);
    expect(first.left).toBe(30 - first.failed);
    const second = await mirrored.mirror(begin + hour / 4);
    expect(second.asked).toBeLessThanOrEqual(6);
    expect(second.failing).toHaveLength(first.failed + second.failed);
  });

  it('a host to which slow redirects leave no time is not one without answers', async () => {
    const asking = vi.spyOn(PictureRequests.prototype, 'ask').mockImplementation(async (url, _known, milliseconds) => {
      if (url.host === 'innocent.example') return { kind: 'problem', problem: 'timeout' };
      await setTimeout(milliseconds * 0.9);
      return { kind: 'redirect', to: new URL('https://innocent.example/late.png') };
    });
    onTestFinished(() => asking.mockRestore());
    const late = Array.from({ length: 7 }, (_, place) => `https://slow.example/${place}.png`);
    const mirrored = await MirroredData.create(...late);
    expect(await mirrored.mirror()).toMatchObject({ failed: 7, left: 0, problems: { timeout: 7 } });
  });
});

describe('addresses', () => {
  it('that are private are not connected to, unless the environment says so', async () => {
    await using server = await PictureServer.start();
    server.paths.set('/one.png', picture('png'));
    const mirrored = await MirroredData.create(server.at('/one.png'));
    vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '');
    expect(await mirrored.mirror()).toMatchObject({ mirrored: 0, problems: { refused_address: 1 } });
    expect(server.connections).toBe(0);
    expect(await mirrored.served(server.at('/one.png'))).toBe(302);
  });

  it('lead on three times at most', async () => {
    await using server = await PictureServer.start();
    await using other = await PictureServer.start();
    for (const step of [1, 2, 3, 4])
      server.paths.set(`/${step}`, (_request, response) =>
        response.writeHead(301 + (step % 2), { location: step === 1 ? other.at('/end.png') : `/${step - 1}` }).end(),
      );
    other.paths.set('/end.png', picture('png'));
    const mirrored = await MirroredData.create(server.at('/3'), server.at('/4'));
    expect(await mirrored.mirror()).toMatchObject({ mirrored: 1, problems: { redirects: 1 } });
    expect(await mirrored.served(server.at('/3'))).toEqual(picture('png'));
    expect(await mirrored.served(server.at('/4'))).toBe(302);
  });
});

describe('asking again', () => {
  it('is done after a day, with what the server said of its copy; unchanged stays as it is', async () => {
    await using server = await PictureServer.start();
    const modified = 'Fri, 20 Nov 2026 10:00:00 GMT';
    server.paths.set('/one.png', ({ headers }, response) => {
      if (headers['if-none-match'] === '"v1"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"v1"', 'last-modified': modified }).end(picture('png'));
    });
    const source = server.at('/one.png');
    const mirrored = await MirroredData.create(source);
    await mirrored.mirror();
    expect(await mirrored.mirror(begin + day - 1)).toMatchObject({ wanted: 1, asked: 0 });
    server.requests.splice(0);
    expect(await mirrored.mirror(begin + day)).toMatchObject({ asked: 1, unchanged: 1, mirrored: 0 });
    expect(server.requests).toMatchObject([{ headers: { 'if-none-match': '"v1"', 'if-modified-since': modified } }]);
    expect(await mirrored.served(source)).toEqual(picture('png'));
  });

  it('finds other bytes under the same name, and the old file goes', async () => {
    await using server = await PictureServer.start();
    const source = server.at('/one.png');
    server.paths.set('/one.png', picture('png', 'old'));
    const mirrored = await MirroredData.create(source);
    await mirrored.mirror();
    expect(await mirrored.served(source)).toEqual(picture('png', 'old'));
    server.paths.set('/one.png', picture('gif', 'new'));
    expect(await mirrored.mirror(begin + day)).toMatchObject({ mirrored: 1, removed: 1 });
    expect(await mirrored.served(source)).toEqual(picture('gif', 'new'));
    expect(await mirrored.files()).toHaveLength(1);
  });

  it('believes "unchanged" only of the server that gave the copy', async () => {
    await using server = await PictureServer.start();
    await using first = await PictureServer.start();
    await using second = await PictureServer.start();
    let target = first.at('/p');
    server.paths.set('/one', (_request, response) => response.writeHead(302, { location: target }).end());
    for (const [each, filling] of [
      [first, 'first'],
      [second, 'second'],
    ] as const)
      each.paths.set('/p', ({ headers }, response) => {
        if (headers['if-none-match'] === undefined)
          response.writeHead(200, { etag: '"1"' }).end(picture('png', filling));
        else response.writeHead(304).end();
      });
    const mirrored = await MirroredData.create(server.at('/one'));
    await mirrored.mirror();
    expect(await mirrored.mirror(begin + day)).toMatchObject({ unchanged: 1 });
    expect(first.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
    target = second.at('/p');
    expect(await mirrored.mirror(begin + 2 * day)).toMatchObject({ mirrored: 1 });
    expect(await mirrored.served(server.at('/one'))).toEqual(picture('png', 'second'));
  });
});

describe('a pass', () => {
  it('asks eight at once and two of a host', async () => {
    const servers = await Promise.all(Array.from({ length: 6 }, () => PictureServer.start()));
    const underWay = new Map<string, number>();
    const seen = { all: 0, ofHost: 0 };
    const waiting: (() => void)[] = [];
    let released = false;
    // A ninth would come within so many turns.
    const releaseAfter = (turns: number) =>
      void setImmediate(() => {
        if (turns > 0) releaseAfter(turns - 1);
        else {
          released = true;
          for (const release of waiting) release();
        }
      });
    const change = (host: string, by: number) => underWay.set(host, (underWay.get(host) ?? 0) + by);
    for (const server of servers)
      for (let place = 0; place < 5; place++)
        server.paths.set(`/${place}.png`, (_request, response) => {
          change(server.host, 1);
          const all = [...underWay.values()].reduce((sum, each) => sum + each, 0);
          seen.all = Math.max(seen.all, all);
          seen.ofHost = Math.max(seen.ofHost, ...underWay.values());
          const release = () => {
            change(server.host, -1);
            response.end(picture('png'));
          };
          if (released) return release();
          waiting.push(release);
          if (waiting.length === 8) releaseAfter(200);
        });
    const mirrored = await MirroredData.create(
      ...servers.flatMap((server) => [...server.paths.keys()].map((path) => server.at(path))),
    );
    expect(await mirrored.mirror()).toMatchObject({ mirrored: 30 });
    expect(seen).toEqual({ all: 8, ofHost: 2 });
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  it('keeps what no snapshot names any more for a week', async () => {
    await using server = await PictureServer.start();
    const [stays, goes] = [server.at('/stays.png'), server.at('/goes.png')];
    server.paths.set('/stays.png', picture('png', 's')).set('/goes.png', picture('png', 'g'));
    const mirrored = await MirroredData.create(stays, goes);
    await mirrored.mirror();
    await mirrored.publish(stays);
    server.paths.delete('/goes.png');
    expect(await mirrored.mirror(begin + 7 * day)).toMatchObject({ wanted: 1, removed: 0, failing: [] });
    server.paths.set('/goes.png', picture('png', 'g'));
    expect(await mirrored.files()).toHaveLength(2);
    expect(await mirrored.mirror(begin + 7 * day + 1)).toMatchObject({ removed: 1 });
    expect(await mirrored.served(stays)).toEqual(picture('png', 's'));
    await mirrored.publish(stays, goes);
    expect(await mirrored.served(goes)).toBe(302);
    await mirrored.mirror(begin + 7 * day + 2);
    expect(await mirrored.served(goes)).toEqual(picture('png', 'g'));
  });

  it('does nothing where nothing is published', async () => {
    const mirrored = await MirroredData.create();
    await rm(mirrored.data.current);
    expect(await mirrored.mirror()).toMatchObject({ snapshot_id: null, wanted: 0, asked: 0 });
  });
});
