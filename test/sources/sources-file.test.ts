import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exitCode, UsageError } from '../../src/kit/errors/errors.ts';
import { readSources, sourcesSchema } from '../../src/sources/config/sources-file.ts';
import { endOf } from '../support/commands.ts';
import { temporaryData } from '../support/published-snapshot.ts';

const token = 'a-token-that-north-keeps';
const everflow = { source: 'north', connector: 'everflow', secrets: { api_key: 'a-key-that-north-keeps' } };

async function dataOf(entry: object) {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [entry] }), { mode: 0o600 });
  return data;
}

describe('a source whose conversions are pulled', () => {
  it.each([
    [['conversions', 'offers'], 'leave "conversions" or "postback" out'],
    [['conversions'], 'leave one of them out'],
  ])('with pull %j does not report them, too: each would count twice', async (pull, advice) => {
    const data = await dataOf({ ...everflow, pull, postback: { token } });
    const reading = () => readSources(data);
    expect(reading).toThrow(UsageError);
    expect(reading).toThrow('reports what "pull" has of "connector": "everflow", too');
    expect(reading).toThrow(advice);
    expect(reading).not.toThrow(token);
  });

  it('is not asked for those that it reports', async () => {
    const pulled = async (entry: object) => readSources(await dataOf(entry)).sources.map(({ pull }) => pull);
    expect(await pulled({ ...everflow, postback: { token } })).toEqual([['offers']]);
    expect(await pulled(everflow)).toEqual([['offers', 'conversions']]);
  });

  it.each([
    { ...everflow, pull: ['offers'], postback: { token } },
    // A network that lists none: nothing of it comes twice.
    { ...everflow, connector: 'adgem_legacy', secrets: { app_id: '1', token: 't' }, postback: { token } },
    { source: 'north', postback: { token } },
  ])('come by a list or by reports, not both: %j', async (entry) => {
    expect(readSources(await dataOf(entry)).sources).toHaveLength(1);
  });
});

it.each([
  [{ ...everflow, base_url: 'https://api.example/{api_key}/v3' }, 'base_url', 'nothing is filled there'],
  [
    { source: 'north', postback: { signature: { scheme: 'md5', secret: token, template: '{{secret}}.{tid}' } } },
    'template',
    'write names in single braces',
  ],
])('a macro that would not be filled is refused: %j', async (entry, place, advice) => {
  const data = await dataOf(entry);
  expect(() => readSources(data)).toThrow(advice);
  expect(() => readSources(data)).toThrow(place);
  expect(() => readSources(data)).not.toThrow(token);
});

it.each([
  ['harbor.api.example', 'is not an address such as https://name.example'],
  ['', 'is not an address such as https://name.example'],
  ['https:// harbor.example', 'is not an address such as https://name.example'],
  ['https://user@harbor.example', 'has a user name or password: secrets belong into "secrets"'],
  ['https://:password@harbor.example', 'has a user name or password: secrets belong into "secrets"'],
])('the address %j is refused by its line and key', async (base_url, problem) => {
  const data = await dataOf({ ...everflow, base_url });
  expect(() => readSources(data)).toThrow(UsageError);
  expect(() => readSources(data)).toThrow(`line 1: sources[0].base_url ${problem}`);
});

it.each([
  [{ connector: 'ayet', secrets: { api_key: 'k', ad_slot: '1' }, pull: ['conversions'] }, '"ayet", which has offers'],
  [
    { connector: 'awin', secrets: { publisher_id: '1', token: 'k' }, pull: ['offers'] },
    '"awin", which has conversions',
  ],
  [{ ...everflow, pull: [] }, '"everflow", which has offers and conversions'],
  [
    {
      connector: 'http',
      base_url: 'https://a.example',
      offers: { fields: { external_id: 'id' } },
      pull: ['conversions'],
    },
    '"http", which has offers',
  ],
])('a source that pulls nothing is refused: %j', async (entry, lists) => {
  const data = await dataOf({ source: 'north', ...entry });
  expect(() => readSources(data)).toThrow(`sources[0].pull names no list of "connector": ${lists}`);
});

it('commands that need a file that counts twice say what is wrong with it', async () => {
  const data = await dataOf({ ...everflow, pull: ['conversions'], postback: { token } });
  for (const words of [['list'], ['check'], ['pull', 'north']]) {
    const { code, stderr } = await endOf(data.root, 'sources', ...words);
    expect(stderr).toContain('would count twice');
    expect(code).toBe(exitCode.usage);
  }
});

it.each([
  ['README.md', 5],
  ['networks.md', 2],
])('takes the examples of %s', async (name, atLeast) => {
  const page = await readFile(new URL(`../../src/sources/${name}`, import.meta.url), 'utf8');
  const examples = [...page.matchAll(/```json\n([^]*?)```/g)].map(([, json = '']) => JSON.parse(json) as object);
  expect(examples.length).toBeGreaterThanOrEqual(atLeast);
  for (const example of examples) sourcesSchema.parse('sources' in example ? example : { sources: [example] });
});
