import * as crypto from 'node:crypto';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { SiteRegistry } from '../../../src/kit/http/site-registry.ts';
import { readQueryString } from '../../../src/kit/http/query.ts';
import { temporaryData, writeSites } from '../../support/published-snapshot.ts';

/** Bytes of both sides of each comparison, and how many digests were made. */
const work = vi.hoisted(() => ({ compared: [] as [number, number][], digests: 0 }));

vi.mock(import('node:crypto'), async (original) => {
  const real = await original();
  return {
    ...real,
    timingSafeEqual: (one, other) => {
      work.compared.push([one.byteLength, other.byteLength]);
      return real.timingSafeEqual(one, other);
    },
    hash: ((...of: Parameters<typeof crypto.hash>) => {
      work.digests++;
      return real.hash(...of);
    }) as typeof crypto.hash,
  };
});

const secret = 'secret-of-the-first-site';
let sites: SiteRegistry;

beforeEach(async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeSites(data, [
    { site_key: 'first', site_secret: secret },
    { site_key: 'long', site_secret: 'x'.repeat(1000) },
  ]);
  sites = new SiteRegistry(data.sitesFile, pino({ level: 'silent' }), Date.now);
  await sites.start();
});

/** What the identification of a query said, and the work that it took. */
function identified(query: string) {
  Object.assign(work, { compared: [], digests: 0 });
  const said = (() => {
    try {
      return sites.identify(readQueryString(query)).site_key;
    } catch (error) {
      return (error as Error).message;
    }
  })();
  return { said, ...work };
}

test.each([
  ['wrong', 'not-the-secret'],
  ['one character off', `${secret.slice(0, -1)}x`],
  ['short', 'x'],
  ['very long', 'x'.repeat(999)],
  ['given twice', 'x&site_secret=y'],
  ['not UTF-8', '%ff'],
])(
  'a secret that is %s is refused in the same words and by the same work for a key that there is and for one that is not',
  (_what, wrong) => {
    const known = identified(`site_key=first&site_secret=${wrong}`);
    expect(known).toMatchObject({
      compared: [
        [32, 32],
        [32, 32],
      ],
      digests: 1,
    });
    for (const key of ['nobody', 'long', 'first&site_key=first', '%ff'])
      expect(identified(`site_key=${key}&site_secret=${wrong}`)).toEqual(known);
  },
);

test('the right secret takes the same work as a wrong one', () => {
  const right = identified(`site_key=first&site_secret=${secret}`);
  expect(right.said).toBe('first');
  expect(identified(`site_key=nobody&site_secret=${secret}`)).toMatchObject({
    compared: right.compared,
    digests: right.digests,
  });
});

test('a long secret opens its site, and no other one does', () => {
  expect(identified(`site_key=long&site_secret=${'x'.repeat(1000)}`).said).toBe('long');
  for (const wrong of [`${'x'.repeat(999)}y`, 'x'.repeat(1001), 'x'.repeat(252)])
    expect(identified(`site_key=long&site_secret=${wrong}`).said).toMatch(/^no site/);
});
