import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { readSecret } from '../../src/kit/config/secrets.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { plainDialect } from '../../src/demo/simulator/plain.ts';
import { SimulatedNetwork } from '../../src/demo/simulator/network.ts';
import { simulatedOffers } from '../../src/demo/simulator/offers.ts';
import { addSource } from '../../src/sources/config/add-source.ts';
import { connectorNames } from '../../src/sources/connectors/connectors.ts';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { launcher } from '../support/command-line.ts';
import { answered } from '../support/new-source.ts';
import { temporaryData } from '../support/published-snapshot.ts';

const key = 'k3y/with+odd=characters';

async function started(connector: string): Promise<{ data: DataDirectory; network: SimulatedNetwork }> {
  const { data, remove } = await temporaryData();
  const network = await SimulatedNetwork.start(connector, { key, offers: simulatedOffers(60) });
  onTestFinished(async () => {
    await network[Symbol.asyncDispose]();
    await remove();
  });
  return { data, network };
}

const newSource = (connector: string, network: SimulatedNetwork, ...words: string[]) => [
  'sources',
  'new',
  '--connector',
  connector,
  '--source',
  'north',
  '--base-url',
  network.url,
  ...words,
];

const written = async (data: DataDirectory) => JSON.parse(await readFile(data.sourcesFile, 'utf8')) as object;
const permissions = async (file: string) => (await stat(file)).mode & 0o777;

describe('with options alone', () => {
  it('is written once its page was read, and the next command is named', async () => {
    const { data, network } = await started('everflow');
    const file = join(data.root, 'key');
    await writeFile(file, key);
    const words = newSource('everflow', network, '--secret', `api_key=file:${file}`, '--yes');
    const { code, stdout } = await answered(data.root, words);
    expect(code).toBe(0);
    expect(stdout).toContain('1. 1000: an offer');
    expect(stdout).toMatch(/sources pull north/);
    expect(stdout).not.toContain(key);
    expect(await written(data)).toEqual({
      sources: [{ source: 'north', connector: 'everflow', base_url: network.url, secrets: { api_key: { file } } }],
    });
    expect(await permissions(data.sourcesFile)).toBe(0o600);
    expect(network.requests.length).toBe(2);
  });

  it('names what is odd about the page', async () => {
    const { data, network } = await started('everflow');
    network.offers = simulatedOffers(60).map((offer) => ({ ...offer, isActive: false, countries: [] }));
    const words = newSource('everflow', network, '--secret', `api_key=text:${key}`, '--yes', '--json');
    const { stdout } = await answered(data.root, words);
    const { sampled, is_written } = JSON.parse(stdout) as {
      sampled: { odd: { odd: string }[]; offers: { sample: object[] } };
      is_written: boolean;
    };
    expect(is_written).toBe(true);
    expect(sampled.offers.sample).toHaveLength(3);
    expect(sampled.odd.map(({ odd }) => odd)).toEqual([
      '2 records of 60 without a payout',
      '1 of 53 offers with a payout of 0',
      'all offers are paused',
      'no offer has countries',
      'amounts in EUR, without a rate',
      'no conversion on the first page',
    ]);
  });

  it('a page that cannot be read writes nothing, says why and what to do, and --force writes all the same', async () => {
    const { data, network } = await started('everflow');
    const words = newSource('everflow', network, '--secret', 'api_key=text:another-key');
    const refused = await answered(data.root, [...words, '--yes']);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('HTTP 401');
    expect(refused.stdout).toContain('look at api_key');
    expect(existsSync(data.sourcesFile)).toBe(false);
    expect((await answered(data.root, [...words, '--force'])).code).toBe(0);
    expect(readSources(data).sources.map(({ source }) => source)).toEqual(['north']);
  });

  it('a name that is there already is refused before anything is asked', async () => {
    const { data, network } = await started('everflow');
    await writeFile(data.sourcesFile, '{"sources": [{"source": "north"}]}', { mode: 0o600 });
    const words = newSource('everflow', network, '--secret', `api_key=text:${key}`, '--force');
    const { code, shown } = await answered(data.root, words);
    expect([code, shown]).toEqual([2, expect.stringContaining('has a source north already')]);
    expect(await readFile(data.sourcesFile, 'utf8')).toBe('{"sources": [{"source": "north"}]}');
    expect(network.requests).toEqual([]);
  });

  it.each([
    [['--yes'], 'say --connector <name> and --source <name>'],
    [['--connector', 'tune', '--source', 'north'], 'say --yes'],
    [['--connector', 'tune', '--source', 'north', '--yes'], '--base-url <address>: base_url is missing'],
    [['--connector', 'everflow', '--source', 'north', '--yes'], '--secret api_key=env:VAR'],
    [
      ['--connector', 'http', '--source', 'north', '--base-url', 'http://x', '--yes'],
      '--with <file>: offers is missing',
    ],
    [['--connector', 'nope', '--source', 'north', '--yes'], '--connector nope: there is none of this name, but adgem'],
    [['--connector', 'everflow', '--source', 'north', '--secret', 'api_key=s3cret', '--yes'], 'NAME=env:VARIABLE'],
    [
      '--connector everflow --source north --yes --secret api_key=env:A --secret apikey=env:B'.split(' '),
      '--secret apikey: everflow takes api_key',
    ],
  ])('%j names the option', async (words, message) => {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    const { code, shown } = await answered(data.root, ['sources', 'new', ...words]);
    expect(code).toBe(2);
    expect(shown).toContain(message);
    expect(shown).not.toContain('s3cret');
    expect(existsSync(data.sourcesFile)).toBe(false);
  });

  it('conversions whose times have no zone need one', async () => {
    const { data, network } = await started('tune');
    const at = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '');
    network.conversions = [{ id: 'c1', clickId: 'k1', status: 'approved', payout: '1.50', at }];
    const words = newSource('tune', network, '--secret', `api_key=text:${key}`, '--yes');
    const refused = await answered(data.root, words);
    expect([refused.code, refused.shown]).toEqual([2, expect.stringContaining('--time-zone')]);
    expect(existsSync(data.sourcesFile)).toBe(false);
    const { code, stdout } = await answered(data.root, [...words, '--time-zone', 'America/New_York', '--json']);
    expect(code).toBe(0);
    const { sampled } = JSON.parse(stdout) as { sampled: { conversions: object } };
    expect(sampled.conversions).toMatchObject({
      records: 1,
      sample: [{ id: 'c1', becomes: 'conversion', reason: null }],
    });
    expect(stdout).not.toContain(key);
  });

  it('a network that is declared is read from a file, with its secrets by their names there', async () => {
    const { data, remove } = await temporaryData();
    const network = await SimulatedNetwork.speaking(plainDialect, {
      key,
      offers: [{ external_id: 'a1', title: 'Castle', payout: '1.20', link: `https://t.example/?k=${key}` }],
    });
    onTestFinished(async () => {
      await network[Symbol.asyncDispose]();
      await remove();
    });
    const file = join(data.root, 'declared.json');
    const offers = {
      query: { page: '{page}', size: '{size}' },
      headers: { 'X-Key': '{key}', 'X-Braces': '\\{key2}' },
      records: 'offers',
      paging: { kind: 'page', total: 'total' },
      fields: { external_id: 'external_id', title: 'title', payout: 'payout', destination_url: 'link' },
    };
    const withSecret = { offers, secrets: { key: null } };
    await writeFile(file, JSON.stringify(withSecret));
    const links = { of: 'id', at: 'link', path: '/{campaign}', token: { path: '/{of_links}', at: 'token' } };
    const words = ['sources', 'new', '--connector', 'http', '--source', 'mine', '--base-url', network.url];
    const nothing = await answered(data.root, [...words, '--with', file, '--yes']);
    expect([nothing.code, nothing.shown]).toEqual([2, expect.stringContaining('secrets.key is a text, {"env": ')]);
    for (const [text, slip] of [
      ['{"offers": {},\n}', 'is not valid JSON in line 2, column 1: the comma before it is one too many'],
      ['[]', 'line 1: is no JSON object with keys of a source'],
    ] as const) {
      await writeFile(file, text);
      const { code, shown } = await answered(data.root, [...words, '--with', file, '--yes']);
      expect([code, shown]).toEqual([2, expect.stringContaining(slip)]);
    }
    await writeFile(file, JSON.stringify({ offers: { ...offers, links } }));
    const ofLinks = await answered(data.root, [...words, '--with', file, '--yes']);
    expect(ofLinks.shown).toContain('--secret of_links=env:VAR');
    await writeFile(file, JSON.stringify({ offers }));
    const missing = await answered(data.root, [...words, '--with', file, '--yes']);
    expect(missing.shown).toContain('--secret key=env:VAR');
    const { code, stdout } = await answered(data.root, [
      ...words,
      '--with',
      file,
      '--secret',
      `key=text:${key}`,
      '--yes',
    ]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('1. a1: an offer')]);
    expect(stdout).not.toContain(key);
    expect(await written(data)).toMatchObject({ sources: [{ connector: 'http', offers }] });
  });
});

describe('at a terminal', () => {
  it('asks for what is left out; a secret that is typed goes into a file for its owner alone', async () => {
    const { data, network } = await started('everflow');
    const { code, stdout, shown } = await answered(
      data.root,
      ['sources', 'new', '--base-url', network.url],
      [
        ['Which network: ', 'neverflow'],
        ['Which network: ', String(connectorNames.indexOf('everflow') + 1)],
        ['folder [everflow]: ', 'north'],
        ['Enter to type it: ', ''],
        ['(is not shown): ', key],
        ['(yes or no) [yes]: ', ''],
      ],
    );
    expect([code, shown]).toEqual([0, expect.stringContaining('1. 1000: an offer')]);
    expect(shown).toContain('"neverflow" is none of them');
    expect(stdout + shown).not.toContain(key);
    const [entry] = readSources(data).sources;
    const secret = entry?.secrets['api_key'] ?? '';
    expect(secret).toEqual({ file: data.secretFile('north', 'api_key') });
    expect(readSecret('api_key', secret)).toBe(key);
    expect(await permissions(data.secretFile('north', 'api_key'))).toBe(0o600);
    expect(await permissions(data.secrets)).toBe(0o700);
  });

  it('asks for the currency and the zone that the page turns out to need, and reads it again by them', async () => {
    const { data, network } = await started('tune');
    const at = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '');
    network.conversions = [{ id: 'c1', clickId: 'k1', status: 'approved', payout: '1.50', at }];
    const words = newSource('tune', network, '--secret', `api_key=text:${key}`);
    const { code, shown } = await answered(data.root, words, [
      ['which is [USD]: ', 'dollars'],
      ['America/New_York: ', 'Nowhere/Land'],
      ['such as USD: ', 'USD'],
      ['America/New_York: ', 'Europe/Berlin'],
      ['(yes or no) [yes]: ', 'yes'],
    ]);
    expect([code, shown]).toEqual([0, expect.stringContaining('1. c1: a conversion')]);
    expect(await written(data)).toMatchObject({ sources: [{ time_zone: 'Europe/Berlin' }] });
    expect(network.requests.length).toBe(2);
  });

  it.each([
    ['after no for an answer', 'no', 0],
    ['after the end of the input', null, 1],
  ])('writes nothing %s', async (_when, answer, exit) => {
    const { data, network } = await started('everflow');
    const { code, shown } = await answered(data.root, newSource('everflow', network), [
      ['Enter to type it: ', ''],
      ['(is not shown): ', key],
      ['(yes or no) [yes]: ', answer],
    ]);
    expect(code).toBe(exit);
    expect(shown).not.toContain(key);
    expect([existsSync(data.sourcesFile), existsSync(data.secrets)]).toEqual([false, false]);
  });

  it('asks whether a source that cannot be read is written anyway', async () => {
    const { data, network } = await started('everflow');
    const words = newSource('everflow', network, '--secret', 'api_key=text:another-key');
    expect((await answered(data.root, words, [['(yes or no) [no]: ', '']])).code).toBe(1);
    expect(existsSync(data.sourcesFile)).toBe(false);
    expect((await answered(data.root, words, [['(yes or no) [no]: ', 'yes']])).code).toBe(0);
    expect(existsSync(data.sourcesFile)).toBe(true);
  });
});

describe('sources.json', () => {
  const draft = { source: 'north', connector: 'everflow', secrets: { api_key: { kept: key } } };

  it.each([
    ['nothing', '{"sources": []}', /^\{"sources": \[\{"source":"north",.*\}\]\}$/],
    [
      'an entry on one line',
      '{"sources": [{"source": "a"}]}\n',
      /^\{"sources": \[\{"source": "a"\},\{"source":"north"/,
    ],
    [
      'entries by tabs',
      '{\r\n\t"sources": [\r\n\t\t{ "source": "a" },\r\n\r\n\t\t{ "source":"b" }\r\n\t]\r\n}',
      /^\{\r\n\t"sources": \[\r\n\t\t\{ "source": "a" \},\r\n\r\n\t\t\{ "source":"b" \},\r\n\t\t\{\r\n\t\t\t"source": "north",/,
    ],
    [
      'an empty list on two lines',
      '{\n  "sources": [\n  ]\n}\n',
      /^\{\n {2}"sources": \[\n {4}\{\n {6}"source": "north",/,
    ],
  ])('with %s keeps its text around the new entry', async (_what, before, after) => {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    await writeFile(data.sourcesFile, before, { mode: 0o640 });
    await addSource(data, draft);
    const text = await readFile(data.sourcesFile, 'utf8');
    expect(text).toMatch(after);
    expect(readSources(data).sources.at(-1)?.source).toBe('north');
    expect(await permissions(data.sourcesFile)).toBe(0o640);
  });

  it.each(['secret: written', 'secret: renamed', 'sources: written', 'sources: renamed'])(
    'is the old or the new one where the process ends at "%s"',
    async (step) => {
      const { data, remove } = await temporaryData();
      onTestFinished(remove);
      const before = '{"sources": [{"source": "a"}]}';
      await writeFile(data.sourcesFile, before, { mode: 0o600 });
      const { files } = realEffects;
      const fails = {
        ...files,
        writeFile: async (path: string, content: string | Uint8Array, at: string, mode?: number) => {
          if (at === step) return Promise.reject(new Error('made to fail'));
          return files.writeFile(path, content, at, mode);
        },
        rename: async (from: string, to: string, at: string) => {
          if (at === step) return Promise.reject(new Error('made to fail'));
          return files.rename(from, to, at);
        },
      };
      await expect(addSource(data, draft, fails)).rejects.toThrow('made to fail');
      expect(await readFile(data.sourcesFile, 'utf8')).toBe(before);
      await addSource(data, draft);
      expect(readSources(data).sources.map(({ source }) => source)).toEqual(['a', 'north']);
    },
  );

  it('has both of two sources that are added at the same time', async () => {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    await Promise.all([addSource(data, draft), addSource(data, { ...draft, source: 'south' })]);
    const names = readSources(data).sources.map(({ source }) => source);
    expect(names.toSorted()).toEqual(['north', 'south']);
  });

  it('is the one that a link leads to', async () => {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    const kept = join(data.root, 'kept.json');
    await writeFile(kept, '{"sources": [{"source": "a"}]}');
    await symlink(kept, data.sourcesFile);
    await addSource(data, draft);
    expect(await readlink(data.sourcesFile)).toBe(kept);
    expect(await readFile(kept, 'utf8')).toContain('"north"');
  });

  it('stays as it is where the command is killed while it waits for the page', async () => {
    const { data, network } = await started('everflow');
    const before = '{\n "sources": [ {"source": "a"} ]\n}';
    await writeFile(data.sourcesFile, before, { mode: 0o600 });
    const words = newSource('everflow', network, '--secret', 'api_key=env:NORTH_KEY', '--yes');
    const child = spawn(launcher.executable, [...launcher.words, ...words], {
      env: { ...process.env, OFFERLINE_DATA: data.root, NORTH_KEY: key },
      stdio: 'ignore',
    });
    network.onRequest = () => child.kill('SIGKILL');
    await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
    expect(await readFile(data.sourcesFile, 'utf8')).toBe(before);
  });
});
