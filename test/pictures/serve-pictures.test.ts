import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { realEffects } from '../../src/kit/files/effects.ts';
import { PictureIndex } from '../../src/pictures/picture-index.ts';
import { expectDescribed } from '../support/described-headers.ts';
import { feedOffer, flipBit, makeCurrent, writeSites, writeSnapshot } from '../support/published-snapshot.ts';
import { imageName } from '../../src/pipeline/landing/catalog/image-name.ts';
import { samePoint, watchedEffects, type StepPoint } from '../fault/lives/watched-effects.ts';
import { serviceForTest } from '../support/running-service.ts';
import { begin, day, hour, MirroredData, pathOf } from './mirrored-data.ts';
import { picture, PictureServer } from './picture-server.ts';
import { slow } from '../support/slow.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A server with one picture, and the data that mirrors it. */
async function onePicture() {
  const server = await PictureServer.start();
  server.paths.set('/one.png', picture('png'));
  const source = server.at('/one.png');
  return { server, source, mirrored: await MirroredData.create(source) };
}

describe('a mirrored picture', () => {
  it('is served under every base, to be kept for ever, and runs nothing', async () => {
    const { server, source, mirrored } = await onePicture();
    await using _ = server;
    await mirrored.mirror();
    const running = await mirrored.service();
    for (const base of ['', '/a', '/b', '/c']) {
      const response = await running.get(base + pathOf(source), { redirect: 'manual' });
      expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([
        200,
        {
          'content-type': 'image/png',
          'content-length': '100',
          'cache-control': 'public, max-age=31536000, immutable',
          etag: `"${sha256(picture('png'))}"`,
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          'referrer-policy': 'no-referrer',
        },
      ]);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(picture('png'));
    }
  });

  it('is a 304 for who has it, has no body for HEAD, and takes no other method', async () => {
    const { server, source, mirrored } = await onePicture();
    await using _ = server;
    await mirrored.mirror();
    const whole = await mirrored.visit(source);
    const unchanged = await mirrored.visit(source, { headers: { 'if-none-match': `W/${whole.headers.get('etag')}` } });
    expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
    for (const name of ['etag', 'cache-control', 'x-content-type-options', 'content-security-policy'])
      expect(unchanged.headers.get(name), name).toBe(whole.headers.get(name));
    const head = await mirrored.visit(source, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '100', '']);
    expect((await mirrored.visit(source, { method: 'POST' })).status).toBe(405);
    expect((await mirrored.visit(source, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('is described by OpenAPI, as is the redirect in its place', async () => {
    const { server, source, mirrored } = await onePicture();
    await using _ = server;
    const running = await mirrored.service();
    const { responses } = (await running.json('/openapi.json')).paths['/asset/images/offers/{name}'].get;
    expectDescribed(responses[302], await mirrored.visit(source), 'not mirrored yet');
    await mirrored.mirror();
    const whole = await mirrored.visit(source);
    expectDescribed(responses[200], whole, 'mirrored');
    expect(Object.keys(responses[200].content)).toContain(whole.headers.get('content-type'));
    const unchanged = await mirrored.visit(source, { headers: { 'if-none-match': '*' } });
    expect(unchanged.status).toBe(304);
    expectDescribed(responses[304], unchanged, 'asked again');
    expectDescribed(responses[404], await running.get('/asset/images/offers/none.png'), 'no such name');
  });

  it('gives way to pages while clients that do not read have much waiting', slow, async () => {
    const { server, source, mirrored } = await onePicture();
    await using _ = server;
    server.paths.set('/one.png', picture('png', 'large', 100_000));
    const keys = ['one', 'two', 'three'];
    await writeSites(
      mirrored.data,
      keys.map((site_key) => ({ site_key, site_secret: 'a-long-enough-secret' })),
    );
    // Far more than the sockets' buffers hold; two pages are more than leaves room for pictures.
    const descriptions = { en: 'x'.repeat(1_000_000) };
    await writeSnapshot(mirrored.data, 'large', {
      offers: Array.from({ length: 30 }, (_each, place) =>
        feedOffer({ id: place + 1, descriptions, image_source: source, image_name: imageName(source) }),
      ),
    });
    await makeCurrent(mirrored.data, 'large');
    await mirrored.mirror();
    const running = await mirrored.service();
    const page = (key: string) => `/c/api/v1/offers?site_key=${key}&site_secret=a-long-enough-secret`;
    const ends = new AbortController();
    for (const key of ['one', 'two']) {
      expect((await mirrored.visit(source)).status, key).toBe(200);
      await running.get(page(key), { signal: ends.signal });
    }
    expect((await mirrored.visit(source)).headers.get('location')).toBe(source);
    expect((await running.get(page('three'), { signal: ends.signal })).status).toBe(200);
    ends.abort();
    const unsent = async () =>
      /^offerline_unsent_bytes (\d+)$/m.exec(await (await running.get('/metrics')).text())?.[1];
    while ((await unsent()) !== '0');
    expect((await mirrored.visit(source)).status).toBe(200);
  });

  it('has no other names than the published ones', async () => {
    const { server, source, mirrored } = await onePicture();
    await using _ = server;
    await mirrored.mirror();
    const [file = ''] = await mirrored.files();
    const running = await mirrored.service();
    for (const name of [file, `..%2fpictures%2f${file}`, 'pictures.sqlite', '..%2f..%2fsites.json', '..%2fsites.json'])
      expect((await running.get(`/asset/images/offers/${name}`)).status, name).toBe(404);
    expect((await mirrored.visit(source)).status).toBe(200);
  });

  it('is a redirect where nothing is to be mirrored any more', async () => {
    const { server, source, mirrored } = await onePicture();
    await using _ = server;
    await mirrored.mirror();
    const without = await serviceForTest(mirrored.data);
    expect((await without.get(pathOf(source), { redirect: 'manual' })).status).toBe(302);
  });
});

describe('a file that is not what its name says', () => {
  it.for<[what: string, harm: (file: string) => Promise<unknown>, healedBy: number]>([
    ['gone', (file) => rm(file), begin + hour],
    ['cut', (file) => truncate(file, 50), begin + hour],
    ['longer than any picture', (file) => truncate(file, 6_000_000), begin + hour],
    // To be seen by its bytes alone: they are read when it is asked about again.
    ['changed in one bit', (file) => flipBit(file), begin + day],
  ])('%s: the client is sent to the advertiser, until a pass has it again', async ([, harm, healedBy]) => {
    const { server, source, mirrored } = await onePicture();
    await using _ = server;
    server.paths.set('/one.png', ({ headers }, response) => {
      if (headers['if-none-match'] === undefined) response.writeHead(200, { etag: '"1"' }).end(picture('png'));
      else response.writeHead(304).end();
    });
    await mirrored.mirror();
    await harm(join(mirrored.data.pictures, (await mirrored.files())[0] ?? ''));
    expect(await mirrored.served(source)).toBe(302);
    expect(await mirrored.served(source)).toBe(302);
    const warnings = (await mirrored.service()).log.filter(({ msg }) => msg.includes('doctor --deep --repair'));
    expect(warnings).toHaveLength(1);
    await mirrored.mirror(healedBy);
    expect(await mirrored.served(source)).toEqual(picture('png'));
  });

  it('an index that is damaged is begun anew by the next pass, and read without a restart', async () => {
    const { server, source, mirrored } = await onePicture();
    await using _ = server;
    await mirrored.mirror();
    expect(await mirrored.served(source)).toEqual(picture('png'));
    const { pictureIndexFile } = mirrored.data;
    for (const ending of ['-wal', '-shm']) await rm(pictureIndexFile + ending, { force: true });
    await rm(pictureIndexFile);
    await writeFile(pictureIndexFile, 'no database at all'.repeat(1000));
    expect(await mirrored.served(source)).toBe(302);
    expect(await mirrored.mirror(begin + 1)).toMatchObject({ mirrored: 1 });
    expect(await mirrored.served(source)).toEqual(picture('png'));
    expect(await mirrored.files()).toHaveLength(1);
  });
});

describe('a pass that ends by force', () => {
  const old = picture('png', 'old');
  const fresh = picture('gif', 'new');

  /** Data in which one picture has changed and another is new; a third has left the catalog long ago. */
  async function changed(server: PictureServer) {
    const [one, two, gone] = ['/one', '/two', '/gone'].map((path) => server.at(path)) as [string, string, string];
    server.paths.set('/one', old).set('/gone', picture('webp'));
    const mirrored = await MirroredData.create(one, gone);
    await mirrored.mirror();
    await mirrored.publish(one, two);
    server.paths.set('/one', fresh).set('/two', picture('jpg'));
    return { mirrored, one, two };
  }
  const later = begin + 8 * day;

  it('at any of its steps leaves nothing torn to be served, and the next one puts all right', slow, async () => {
    await using server = await PictureServer.start();
    const points: StepPoint[] = [];
    const first = await changed(server);
    await first.mirrored.mirror(
      later,
      // The note of the pass's outcome comes after all of it, and ends nothing.
      watchedEffects(later, (point) => void (point.step.startsWith('pipeline outcome') || points.push(point))),
    );
    expect(new Set(points.map(({ step }) => step))).toEqual(
      new Set([
        'pictures: wanted ones written down',
        'picture: written',
        'picture: renamed',
        'picture: folder synced',
        'picture: indexed',
        'pictures: unwanted ones forgotten',
        'picture: removed',
      ]),
    );
    for (const end of points) {
      const { mirrored, one, two } = await changed(server);
      let ended = false;
      const effects = watchedEffects(later, (point) => {
        // A process that is gone does nothing any more.
        ended ||= samePoint(point, end);
        if (ended) throw new Error('killed');
      });
      await expect(mirrored.mirror(later, effects)).rejects.toThrow('killed');
      const about = `${end.moment} ${end.step} ${end.occurrence}`;
      const [shown, other] = [await mirrored.served(one), await mirrored.served(two)];
      expect([302, old.toString('hex'), fresh.toString('hex')], about).toContain(
        typeof shown === 'number' ? shown : shown.toString('hex'),
      );
      expect([302, picture('jpg').toString('hex')], about).toContain(
        typeof other === 'number' ? other : other.toString('hex'),
      );
      await mirrored.mirror(later + 1);
      expect([await mirrored.served(one), await mirrored.served(two)], about).toEqual([fresh, picture('jpg')]);
      const files = [`${sha256(fresh)}.gif`, `${sha256(picture('jpg'))}.jpg`].toSorted();
      expect(await mirrored.files(), about).toEqual(files);
      for (const file of files)
        expect(sha256(await readFile(join(mirrored.data.pictures, file))), about).toBe(file.split('.')[0]);
    }
  });

  it('or over a full disk says so, and what was mirrored before stays', async () => {
    await using server = await PictureServer.start();
    const { mirrored, one } = await changed(server);
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const files = { ...realEffects.files, writeFile: () => Promise.reject(full) };
    await expect(mirrored.mirror(later, { ...realEffects, now: () => later, files })).rejects.toThrow('ENOSPC');
    using index = PictureIndex.existing(mirrored.data);
    expect(index?.lastPass()).toEqual({ started_at: later, ended_at: later, error: full.message });
    expect(await mirrored.served(one)).toEqual(old);
  });
});

it('other files in the folder are left alone', async () => {
  const { server, mirrored } = await onePicture();
  await using _ = server;
  await mirrored.mirror();
  const note = join(mirrored.data.pictures, 'note.txt');
  const stray = join(mirrored.data.pictures, `${'0'.repeat(64)}.png`);
  await writeFile(note, 'by the operator');
  await writeFile(stray, 'by nobody');
  await writeFile(`${stray}.part`, 'by a pass that was killed');
  await mirrored.mirror(begin + 1);
  expect((await stat(note)).size).toBe(15);
  expect(await readdir(mirrored.data.pictures)).not.toContain(`${'0'.repeat(64)}.png.part`);
  expect(await mirrored.files()).toEqual([`${sha256(picture('png'))}.png`]);
});
