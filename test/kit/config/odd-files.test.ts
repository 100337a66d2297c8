import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSecret } from '../../../src/kit/config/secrets.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { UserRegistry } from '../../../src/console/access/user-registry.ts';
import { readTls } from '../../../src/console/access/safe-listener.ts';
import { createLogger, type Logger } from '../../../src/kit/logging/log.ts';
import { SiteRegistry } from '../../../src/kit/http/site-registry.ts';
import { addSite } from '../../../src/kit/sites/add-site.ts';
import { readSources } from '../../../src/sources/config/sources-file.ts';
import { Countries } from '../../../src/tracker/agents/countries.ts';
import { openClickKeys } from '../../../src/pipeline/routes/click-keys.ts';
import { PostbackSources } from '../../../src/tracker/conversions/postback-sources.ts';
import { RouteFollower } from '../../../src/tracker/routes/route-follower.ts';
import { routesText } from '../../../src/pipeline/routes/routes-file.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { countryFile } from '../../tracker/agents/country-file.ts';

/** What may lie where a file should: reading it as a file hangs, never ends, or takes all memory. */
const odd: Record<string, [make: (path: string) => void, message: RegExp]> = {
  'a named pipe': [(path) => void execFileSync('mkfifo', [path]), /it is no regular file/],
  'a link to a device without end': [(path) => symlinkSync('/dev/zero', path), /it is no regular file/],
  'a folder': [(path) => mkdirSync(path), /it is no regular file/],
  'a huge file': [
    (path) => {
      writeFileSync(path, '');
      truncateSync(path, 3 * 2 ** 30);
    },
    /it has 3221225472 bytes, and at most \d+ are read|has more than \d+ bytes in a line/,
  ],
};

async function dataDirectory(): Promise<DataDirectory> {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  return data;
}

const site = (key: string) => JSON.stringify({ sites: [{ site_key: key, site_secret: 'of many characters' }] });
const user = (name: string) => JSON.stringify({ users: [{ name, role: 'viewer', token_sha256: '0'.repeat(64) }] });
const source = (name: string, token: unknown = 'a token of many characters') =>
  JSON.stringify({ sources: [{ source: name, postback: { token, parameters: {} } }] });
const routes = (snapshot_id: string) => routesText({ snapshot_id, as_of: '2026-11-18T10:00:00Z' }, []);

interface Followed {
  path: string;
  good: [string | Buffer, string | Buffer];
  follow: (log: Logger) => Promise<{ poll: () => Promise<void>; known: () => unknown }>;
  known: [unknown, unknown];
}

const followers: Record<string, (data: DataDirectory) => Followed> = {
  'sites.json': (data) => ({
    path: data.sitesFile,
    good: [site('a'), site('b')],
    follow: async (log) => {
      const sites = new SiteRegistry(data.sitesFile, log, Date.now);
      await sites.start();
      return { poll: () => sites.poll(), known: () => ['a', 'b'].filter((key) => sites.named(key) !== undefined) };
    },
    known: [['a'], ['b']],
  }),
  'the console’s users': (data) => ({
    path: data.consoleUsersFile,
    good: [user('a'), user('b')],
    follow: async (log) => {
      const users = new UserRegistry(data.consoleUsersFile, log);
      await users.start();
      return { poll: () => users.poll(), known: () => ['a', 'b'].filter((name) => users.named(name) !== undefined) };
    },
    known: [['a'], ['b']],
  }),
  'the routes': (data) => ({
    path: data.currentRoutes,
    good: [routes('1'), routes('2')],
    follow: async (log) => {
      const follower = new RouteFollower(data, log);
      await follower.poll();
      return { poll: () => follower.poll(), known: () => follower.current?.head.snapshot_id };
    },
    known: ['1', '2'],
  }),
  'sources.json': (data) => ({
    path: data.sourcesFile,
    good: [source('a'), source('b')],
    follow: async (log) => {
      const sources = await PostbackSources.open(data, log);
      return { poll: () => sources.poll(), known: () => ['a', 'b'].filter((name) => sources.find(name) !== undefined) };
    },
    known: [['a'], ['b']],
  }),
  'the file of a source’s token': (data) => ({
    path: join(data.root, 'token'),
    good: ['the token of the first', 'the token of the second'],
    follow: async (log) => {
      writeFileSync(data.sourcesFile, source('a', { file: join(data.root, 'token') }), { mode: 0o600 });
      const sources = await PostbackSources.open(data, log);
      return { poll: () => sources.poll(), known: () => sources.find('a')?.guard.secrets };
    },
    known: [['the token of the first'], ['the token of the second']],
  }),
  'countries of addresses': (data) => ({
    path: join(data.root, 'countries.mmdb'),
    good: [countryFile({ 1: 'DE' }), countryFile({ 1: 'FR' })],
    follow: async (log) => {
      const countries = new Countries(join(data.root, 'countries.mmdb'), log);
      await countries.poll();
      return { poll: () => countries.poll(), known: () => countries.countryOf('1.2.3.4') };
    },
    known: ['DE', 'FR'],
  }),
};

describe.for(Object.entries(followers))('%s', ([, followed]) => {
  it.for(Object.entries(odd))('as %s leaves the last good one, with a word', async ([, [make, words]]) => {
    const { path, good, follow, known } = followed(await dataDirectory());
    const logged: string[] = [];
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, good[0], { mode: 0o600 });
    const { poll, known: knows } = await follow(createLogger({ write: (line) => void logged.push(line) }, 'error'));
    expect(knows()).toEqual(known[0]);

    rmSync(path);
    make(path);
    await poll();
    await poll();
    expect(knows()).toEqual(known[0]);
    expect(logged).toEqual([expect.stringMatching(words)]);

    // A link is as good as the file that it leads to.
    rmSync(path, { recursive: true });
    const elsewhere = `${path}.elsewhere`;
    writeFileSync(elsewhere, good[1], { mode: 0o600 });
    symlinkSync(elsewhere, path);
    await poll();
    expect(knows()).toEqual(known[1]);
  });
});

it.for(Object.entries(odd))('what is read at a start as %s is refused plainly', async ([, [make, words]]) => {
  const data = await dataDirectory();
  mkdirSync(data.tracker, { recursive: true });
  const readers: [path: string, read: () => unknown][] = [
    [data.settingsFile, () => readSettings(data)],
    [data.sitesFile, () => addSite(data.sitesFile, { site_key: 's' })],
    [data.sourcesFile, () => readSources(data)],
    [data.clickKeysFile, () => openClickKeys(data)],
    [join(data.root, 'key.pem'), () => readTls({ key: join(data.root, 'key.pem'), cert: join(data.root, 'key.pem') })],
    [join(data.root, 'secret'), () => readSecret('storage.secret', { file: join(data.root, 'secret') })],
  ];
  for (const [path, read] of readers) {
    rmSync(path, { force: true });
    make(path);
    await expect(async () => read()).rejects.toThrow(words);
    renameSync(path, `${path}.odd`);
  }
});

it.each([
  ['a link that leads nowhere', undefined, 'it is a link to a file that does not exist'],
  [
    'windows-1252',
    Buffer.from('{\n"name": "Rew\xe4rdly"}', 'latin1'),
    'its line 2 is not UTF-8; save the file as UTF-8',
  ],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'its line 1 is not UTF-8; save the file as UTF-8'],
])('configuration as %s is refused', async (_, bytes, words) => {
  const data = await dataDirectory();
  for (const [path, read] of [
    [data.settingsFile, () => readSettings(data)],
    [data.sitesFile, () => addSite(data.sitesFile, { site_key: 's' })],
    [data.sourcesFile, () => readSources(data)],
  ] as const) {
    if (bytes === undefined) symlinkSync(`${path}.gone`, path);
    else writeFileSync(path, bytes);
    await expect(async () => read()).rejects.toThrow(`${path} cannot be read: ${words}`);
  }
});

it('configuration may begin with the mark of UTF-8', async () => {
  const data = await dataDirectory();
  writeFileSync(data.settingsFile, '\ufeff{"port": 4711}');
  expect(readSettings(data).port).toBe(4711);
});
