import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commissionText, readSites, rewardRateText } from '../../../src/kit/sites/sites.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sites-'));
  file = join(folder, 'sites.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const secret = 'a-secret-of-more-than-16';

function read(document: unknown) {
  writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document));
  return readSites(file);
}

describe('sites.json', () => {
  it('has no fallback address with a macro that nobody fills, and does not repeat it', () => {
    const site = { site_key: 'one', site_secret: secret, fallback_url: 'https://a.example/?k=hidden&u={sub1}' };
    expect(() => read({ sites: [site] })).toThrow('has a macro that is none of {reason} {offer_id}');
    expect(() => read({ sites: [site] })).not.toThrow(/hidden|sub1/);
  });

  it('needs only key and secret', () => {
    expect(read({ sites: [{ site_key: 'one', site_secret: secret }] }).sites).toEqual([
      {
        site_key: 'one',
        site_secret: secret,
        name: '',
        status: 'active',
        variant: 'C',
        commission: 0,
        reward_rate: 1,
        rate_limit_per_hour: 10,
      },
    ]);
  });

  it('may be missing, which is reported', () => {
    const { sites, warnings } = readSites(file);
    expect(sites).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('does not exist')]);
  });

  it.each([
    ['no JSON', `{"sites": [{"site_key": "one", "site_secret": "${secret}"`],
    ['no list', { sites: { site_key: 'one', site_secret: secret } }],
    ['an unknown key', { sites: [{ site_key: 'one', site_secret: secret, comission: 0.2 }] }],
    ['an unknown status', { sites: [{ site_key: 'one', site_secret: secret, status: 'closed' }] }],
    ['a commission over 1', { sites: [{ site_key: 'one', site_secret: secret, commission: 1.1 }] }],
    ['a commission of 7 places', { sites: [{ site_key: 'one', site_secret: secret, commission: 0.1234567 }] }],
    ['a reward rate of 7 places', { sites: [{ site_key: 'one', site_secret: secret, reward_rate: 1.0000001 }] }],
    ['a reward rate of 1000000000', { sites: [{ site_key: 'one', site_secret: secret, reward_rate: 1e9 }] }],
    ['a reward rate of nothing', { sites: [{ site_key: 'one', site_secret: secret, reward_rate: 0 }] }],
    ['a reward rate below nothing', { sites: [{ site_key: 'one', site_secret: secret, reward_rate: -1 }] }],
    [
      'a previous secret that is empty',
      { sites: [{ site_key: 'one', site_secret: secret, previous_site_secret: '' }] },
    ],
    [
      'a postback that goes nowhere',
      { sites: [{ site_key: 'one', site_secret: secret, postback: { url: 'nowhere' } }] },
    ],
    [
      'the same key twice',
      {
        sites: [
          { site_key: 'one', site_secret: secret },
          { site_key: 'one', site_secret: secret },
        ],
      },
    ],
  ])('with %s is refused by name and without the secret', (_what, document) => {
    const refuse = () => read(document);
    expect(refuse).toThrow(file);
    expect(refuse).not.toThrow(secret);
  });

  it('draws one warning for all weak secrets, naming sites and no secret', () => {
    const sites = Array.from({ length: 7 }, (_, index) => ({ site_key: `site-${index}`, site_secret: 'weak' }));
    const { warnings } = read({ sites });
    expect(warnings).toEqual([
      'secrets of fewer than 16 characters can be guessed: site-0, site-1, site-2, site-3, site-4 and 2 more',
    ]);
  });

  it('has a digest that changes with what a snapshot shows, and not with the secret', () => {
    const digest = (site: object) => read({ sites: [{ site_key: 'one', site_secret: secret, ...site }] }).digest;
    expect(digest({ site_secret: 'another-secret-of-16' })).toBe(digest({}));
    expect(digest({ previous_site_secret: 'the-secret-before-it' })).toBe(digest({}));
    expect(digest({ commission: 0.1 })).not.toBe(digest({}));
  });

  it.each([
    [0, '0'],
    [0.2, '0.2'],
    [0.000001, '0.000001'],
    [1, '1'],
  ])('writes the commission %d as %s', (commission, text) => {
    expect(commissionText({ commission })).toBe(text);
  });

  it.each([
    [1, '1'],
    [0.000001, '0.000001'],
    [0.3, '0.3'],
    [999_999_999.999999, '999999999.999999'],
    [100, '100'],
  ])('takes the reward rate %d as %s', (reward_rate, text) => {
    const [site] = read({ sites: [{ site_key: 'one', site_secret: secret, reward_rate }] }).sites;
    expect(rewardRateText(site ?? { reward_rate: 0 })).toBe(text);
  });

  it('may know the secret before the current one, which draws a warning where it is weak', () => {
    const { sites, warnings } = read({
      sites: [{ site_key: 'one', site_secret: secret, previous_site_secret: 'weak' }],
    });
    expect(sites).toMatchObject([{ previous_site_secret: 'weak' }]);
    expect(warnings).toEqual(['secrets of fewer than 16 characters can be guessed: one']);
  });
});
