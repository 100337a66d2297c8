import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { addSite } from '../../../src/kit/sites/add-site.ts';
import { editSites } from '../../../src/kit/sites/edit-sites.ts';
import { realEffects, type FileEffects } from '../../../src/kit/files/effects.ts';
import { readSites } from '../../../src/kit/sites/sites.ts';
import { endOf } from '../../support/commands.ts';
import { feedOffer, makeCurrent, temporaryData, writeSnapshot } from '../../support/published-snapshot.ts';

const secret = 'the-secret-of-the-site-0123456789';
const other = { site_key: 'other', site_secret: 'another-secret-0123456789', commission: 0.5 };

/** A data directory with a site of these properties between others, and a command line on it. */
async function commands(own: object = {}) {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const site = { site_key: 'wall', site_secret: secret, ...own };
  writeFileSync(data.sitesFile, JSON.stringify({ sites: [other, site] }));
  const words = async (...of: string[]) => {
    const end = await endOf(data.root, 'sites', ...of);
    expect(end.stdout + end.stderr).not.toContain(secret);
    return end;
  };
  const json = async (...of: string[]) => {
    const { code, stdout, stderr } = await words(...of, '--json');
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return JSON.parse(stdout) as Record<string, any>;
  };
  const written = () => JSON.parse(readFileSync(data.sitesFile, 'utf8')) as { sites: any[] };
  return { data, words, json, written };
}

it('set changes an address, and leaves its further parameters as they are', async () => {
  const postback = { url: 'https://user.example/old', fields: { txn: 'conversion_id' }, pending: true };
  const { words, written } = await commands({ postback });
  await words('set', 'wall', '--postback', 'https://user.example/new');
  expect(written().sites[1].postback).toEqual({ ...postback, url: 'https://user.example/new', method: 'GET' });
});

it('set adds rules, commissions and an address, and takes them out again; a dry run writes nothing', async () => {
  const { data, words, json, written } = await commands();
  chmodSync(data.sitesFile, 0o640);
  await writeSnapshot(data, 'one', { offers: [feedOffer({ id: 7, source: 'north', categories: ['Games'] })] });
  await makeCurrent(data, 'one');
  const before = readFileSync(data.sitesFile, 'utf8');
  const wanted = [
    '--commission',
    '0.2',
    '--commission-of',
    'source:north=0.3',
    '--commission-of',
    'offer:7=0.1',
    '--deny',
    'category:games',
    '--deny',
    'source:noth',
    '--allow',
    'source:north',
    '--postback',
    'https://user.example/?token=hidden&u={user_id}',
  ];
  const changes = [
    { key: 'commission', before: '0', after: '0.2' },
    { key: 'commissions', before: null, after: 'source:north=0.3, offer:7=0.1' },
    { key: 'allow', before: null, after: 'source:north' },
    { key: 'deny', before: null, after: 'category:games, source:noth' },
    { key: 'postback', before: null, after: 'POST user.example' },
  ];
  expect(await json('set', 'wall', ...wanted, '--dry-run')).toEqual({ dry_run: true, site_key: 'wall', changes });
  expect(readFileSync(data.sitesFile, 'utf8')).toBe(before);
  const set = await words('set', 'wall', ...wanted, '--json');
  expect(JSON.parse(set.stdout)).toEqual({ site_key: 'wall', changes });
  expect(set.stderr).toContain('offers.deny.1 names no offer of the catalog: source:noth; did you mean north?');
  expect(set.stderr).not.toContain('hidden');
  expect(written().sites[0]).toEqual(other);
  expect(written().sites[1]).toEqual({
    site_key: 'wall',
    site_secret: secret,
    commission: 0.2,
    commissions: [
      { source: 'north', commission: 0.3 },
      { offer: 7, commission: 0.1 },
    ],
    offers: { allow: [{ source: 'north' }], deny: [{ category: 'games' }, { source: 'noth' }] },
    postback: { url: 'https://user.example/?token=hidden&u={user_id}', method: 'POST' },
  });
  expect(statSync(data.sitesFile).mode & 0o777).toBe(0o640);

  await json(
    'set',
    'wall',
    '--remove',
    'category:GAMES',
    '--remove',
    'source:noth',
    '--remove',
    'source:north',
    '--commission-of',
    'offer:7=none',
    '--commission-of',
    'source:north=none',
    '--postback',
    'none',
  );
  expect(written().sites[1]).toEqual({ site_key: 'wall', site_secret: secret, commission: 0.2 });
  expect(await json('set', 'wall', '--commission', '0.2')).toMatchObject({ changes: [] });
});

it('slips of the pen change nothing, and the error says what is meant', async () => {
  const { data, words } = await commands();
  const before = readFileSync(data.sitesFile, 'utf8');
  for (const [typed, sentence] of [
    [['wal', '--commission', '0.2'], 'sites.json has no site "wal"; did you mean wall?'],
    [['wall', '--deny', 'sorce:north'], 'did you mean source:north?'],
    [['wall', '--deny', 'format:offerwal'], 'did you mean "offerwall"?'],
    [['wall', '--deny', 'north'], 'names no offers: write offer:…, source:…'],
    [['wall', '--remove', 'source:north'], 'the site has no entry source:north'],
    [['wall', '--commission-of', 'category:a=0.1'], 'Commissions are by offer or source'],
    [['wall', '--commission', '1.5'], 'a share from 0 to 1'],
    [['wall', '--postback-method', 'GET'], 'the site has no postback address'],
  ] as const) {
    const { code, stderr } = await words('set', ...typed);
    expect([typed, code, stderr]).toEqual([typed, 2, expect.stringContaining(sentence)]);
  }
  expect(readFileSync(data.sitesFile, 'utf8')).toBe(before);
});

it('a site is paused and approved, and its secret rotated', async () => {
  const { data, words, json, written } = await commands({ status: 'pending' });
  expect(await json('approve', 'wall')).toMatchObject({ changes: [{ before: 'pending', after: 'active' }] });
  expect(await json('pause', 'wall')).toMatchObject({ changes: [{ before: 'active', after: 'paused' }] });
  expect(await json('rotate', 'wall', '--dry-run')).toEqual({ dry_run: true, site_key: 'wall', ends_now: false });
  const rotated = await json('rotate', 'wall');
  const [, site] = readSites(data.sitesFile).sites;
  expect(site).toMatchObject({ site_secret: rotated['site_secret'], previous_site_secret: secret, status: 'paused' });
  const left = Date.parse(site?.previous_secret_until ?? '') - Date.now();
  expect(left / 3_600_000).toBeCloseTo(24, 1);
  const hidden = await words('rotate', 'wall', '--now', '--hide');
  expect(hidden.stdout).not.toContain(written().sites[1].site_secret);
  expect(Object.keys(written().sites[1])).toEqual(['site_key', 'site_secret', 'status']);
});

it('what somebody else writes meanwhile is not overwritten', async () => {
  const { data } = await commands();
  const theirs = JSON.stringify({ sites: [] });
  const editing = editSites(data.sitesFile, () => writeFileSync(data.sitesFile, theirs), realEffects.files);
  await expect(editing).rejects.toThrow('was changed by somebody else meanwhile');
  expect(readFileSync(data.sitesFile, 'utf8')).toBe(theirs);
});

it('a link to the file stays one, and an edit by it waits for one of the file itself', async () => {
  const { data, words, written } = await commands();
  const kept = join(data.root, 'kept', 'sites.json');
  mkdirSync(join(data.root, 'kept'));
  renameSync(data.sitesFile, kept);
  symlinkSync(kept, data.sitesFile);
  expect((await words('set', 'wall', '--commission', '0.2')).code).toBe(0);
  expect(lstatSync(data.sitesFile).isSymbolicLink()).toBe(true);
  expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual(written());
  expect(written().sites[1].commission).toBe(0.2);
  await Promise.all([data.sitesFile, kept].map((file, place) => addSite(file, { site_key: `s${place}` })));
  expect(
    written()
      .sites.map(({ site_key }) => site_key as string)
      .toSorted(),
  ).toEqual(['other', 's0', 's1', 'wall']);
});

it.skipIf(process.getuid?.() !== 0)('the owner of the file keeps it where root edits it (as root)', async () => {
  const { data } = await commands();
  chownSync(data.sitesFile, 4711, 4712);
  await addSite(data.sitesFile, { site_key: 'a' });
  for (const file of [data.sitesFile, `${data.sitesFile}.lock`])
    expect(statSync(file)).toMatchObject({ uid: 4711, gid: 4712 });
});

it('an edit that would take the file from its owner changes nothing', async () => {
  const { data } = await commands();
  const [before, { uid, gid }] = [readFileSync(data.sitesFile, 'utf8'), statSync(data.sitesFile)];
  const notPermitted = Object.assign(new Error('EPERM: operation not permitted, fchown'), { syscall: 'fchown' });
  const asAnother: FileEffects = {
    ...realEffects.files,
    writeFile: (path, _content, _step, _mode, owner) => {
      writeFileSync(path, '');
      expect(owner).toEqual({ uid, gid });
      return Promise.reject(notPermitted);
    },
  };
  const editing = editSites(data.sitesFile, (sites) => sites.pop(), asAnother);
  await expect(editing).rejects.toThrow(`${data.sitesFile} belongs to user ${uid} and group ${gid}`);
  expect(readFileSync(data.sitesFile, 'utf8')).toBe(before);
  expect(existsSync(`${data.sitesFile}.tmp`)).toBe(false);
});

it('edits at the same time come one after the other, and all are kept', async () => {
  const { data, written } = await commands();
  const keys = ['a', 'b', 'c'];
  await Promise.all(keys.map((site_key) => addSite(data.sitesFile, { site_key })));
  const added = written().sites.map(({ site_key }) => site_key as string);
  expect(added.toSorted()).toEqual(['a', 'b', 'c', 'other', 'wall']);
});
