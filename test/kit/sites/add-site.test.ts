import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { addSite } from '../../../src/kit/sites/add-site.ts';
import { readSites } from '../../../src/kit/sites/sites.ts';
import { endOf } from '../../support/commands.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { watchedEffects } from '../../fault/lives/watched-effects.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sites-'));
  file = join(folder, 'sites.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('gives each site a secret of its own from 32 random bytes', async () => {
  const first = await addSite(file, { site_key: 'one' });
  const second = await addSite(file, { site_key: 'two', variant: 'B' });
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(second).not.toBe(first);
  const { sites, warnings } = readSites(file);
  expect(
    sites.map(({ site_key, site_secret, variant, status }) => ({ site_key, site_secret, variant, status })),
  ).toEqual([
    { site_key: 'one', site_secret: first, variant: 'C', status: 'active' },
    { site_key: 'two', site_secret: second, variant: 'B', status: 'active' },
  ]);
  expect(warnings).toEqual([]);
});

it('adds no site that could not be read again, and does not repeat what may be a secret', async () => {
  writeFileSync(file, '{"sites": []}');
  for (const url of ['https://a.example/?hidden={clickid}', 'ftp://hidden']) {
    const adding = addSite(file, { site_key: 'one', postback: { url, method: 'POST' } });
    await expect(adding).rejects.toThrow(/postback\.url/);
    await expect(adding).rejects.not.toThrow(/hidden/);
  }
  expect(readFileSync(file, 'utf8')).toBe('{"sites": []}');
});

it('gives new sites POST unless GET is asked for, and leaves sites without a method at GET', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const old = { site_key: 'old', site_secret: 'a-secret-of-more-than-16', postback: { url: 'https://a.example/old' } };
  writeFileSync(data.sitesFile, JSON.stringify({ sites: [old] }));
  const add = async (...words: string[]) => endOf(data.root, 'sites', 'add', ...words);
  expect((await add('post', '--postback', 'https://a.example/post')).code).toBe(0);
  const get = await add('get', '--postback', 'https://a.example/?u={user_id}', '--postback-method', 'GET', '--json');
  expect(get.code).toBe(0);
  const broken = await add('broken', '--postback', 'https://a.example/?u={uid}');
  expect(broken).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has {uid}, which nobody fills: write {user_id}'),
  });
  const { sites } = readSites(data.sitesFile);
  expect(sites.map(({ site_key, postback }) => `${site_key} ${postback?.method}`)).toEqual([
    'old GET',
    'post POST',
    'get GET',
  ]);
  // What stood in the file stays as it is written.
  expect((JSON.parse(readFileSync(data.sitesFile, 'utf8')) as { sites: unknown[] }).sites[0]).toEqual(old);
});

it('keeps a new file to its owner, and an old one as open as it was', async () => {
  await addSite(file, { site_key: 'one' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(join(folder, 'open.json'), '{"sites": []}', { mode: 0o644 });
  await addSite(join(folder, 'open.json'), { site_key: 'one' });
  expect(statSync(join(folder, 'open.json')).mode & 0o777).toBe(0o644);
});

it.each([
  ['a new file', undefined, 0o000, 0o600],
  ['one that a group may read', 0o640, 0o000, 0o640],
  ['the same under an umask that would take it from the group', 0o640, 0o077, 0o640],
  ["one of its owner's", 0o600, 0o022, 0o600],
])(
  'gives %s that mode from its first byte, also where a killed process left it half written',
  async (_name, mode, umask, expected) => {
    if (mode !== undefined) {
      writeFileSync(file, '{"sites": []}');
      chmodSync(file, mode);
    }
    writeFileSync(`${file}.tmp`, '{');
    chmodSync(`${file}.tmp`, 0o666);
    const seen: Record<string, number> = {};
    const effects = watchedEffects(0, ({ step, moment }) => {
      if (step === 'sites: written' && moment !== 'before') seen[moment] = statSync(`${file}.tmp`).mode & 0o777;
    });
    const before = process.umask(umask);
    try {
      await addSite(file, { site_key: 'one' }, effects.files);
    } finally {
      process.umask(before);
    }
    expect({ ...seen, done: statSync(file).mode & 0o777 }).toEqual({ half: expected, after: expected, done: expected });
  },
);

it('refuses a key that is taken and leaves the file as it is', async () => {
  writeFileSync(file, '{"sites": [{"site_key": "one", "site_secret": "0123456789abcdef"}], "note": "kept"}');
  const before = readFileSync(file, 'utf8');
  await expect(addSite(file, { site_key: 'one' })).rejects.toThrow('there is a site one already');
  expect(readFileSync(file, 'utf8')).toBe(before);
  await addSite(file, { site_key: 'two' });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    note: 'kept',
    sites: [{ site_key: 'one' }, { site_key: 'two' }],
  });
});
