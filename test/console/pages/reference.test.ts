import { mkdir, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ConsoleSnapshot, TooSlowError } from '../../../src/console/data/console-snapshot.ts';
import { SqlBox } from '../../../src/console/data/sql-box.ts';
import { slow } from '../../support/slow.ts';
import { hostileTitle, smallNetwork } from './small-network.ts';

const network = smallNetwork();
const look = (path: string) => network.look(path);

it.each([
  ['7', 303, '/offers/7'],
  ['e8', 303, '/offers/8'],
  ['wall', 303, '/sites/wall'],
  ['counts', 303, '/clicks/counts'],
  ['v-lost', 303, '/clicks/never-seen'],
  ['told/"here"', 303, '/clicks/told%2F%22here%22'],
  [' early ', 303, '/clicks/early'],
])('search for %s redirects to its page', async (id, status, place) => {
  const found = await look(`/search?id=${encodeURIComponent(id)}`);
  expect([found.status, found.location]).toEqual([status, place]);
});

it('search redirects to a postback, a snapshot and a file, too', async () => {
  const [postback] = await network.pipeline.ask<{ webhook_id: string }>('FROM postbacks ORDER BY webhook_id LIMIT 1');
  const id = postback?.webhook_id ?? 'none';
  expect((await look(`/search?id=${id}`)).location).toBe(`/postbacks/${id}`);
  const [oldest = ''] = network.snapshots;
  expect((await look(`/search?id=${oldest}`)).location).toBe(`/offers?snapshot=${oldest}`);
  const [file] = await network.pipeline.ask<{ file_id: number; path: string }>(
    `FROM ingest_files WHERE kind = 'clicks'`,
  );
  expect((await look(`/search?id=${encodeURIComponent(file?.path ?? '')}`)).location).toBe(`/files/${file?.file_id}`);
});

it.each([
  ['que', '/offers/8'],
  ['THE WALL', '/sites/wall'],
])('search for the text %s redirects to the only thing that has it', async (text, place) => {
  expect((await look(`/search?id=${encodeURIComponent(text)}`)).location).toBe(place);
});

it('an exact click comes before what has its id as a text only', async () => {
  const { status, markup } = await look('/search?id=quest');
  expect(status).toBe(200);
  expect([...markup.matchAll(/<td[^>]*><a href="(\/\w+\/\w+)">/g)].map(([, href]) => href)).toEqual([
    '/clicks/quest',
    '/offers/8',
  ]);
});

it('search lists what has the text where looking through the events takes too long', async () => {
  const ask = Object.getOwnPropertyDescriptor(ConsoleSnapshot.prototype, 'ask')?.value as ConsoleSnapshot['ask'];
  const spy = vi.spyOn(ConsoleSnapshot.prototype, 'ask').mockImplementation(async function (
    this: ConsoleSnapshot,
    statement,
    options,
  ) {
    if (statement === 'found_conversions') throw new TooSlowError();
    return ask.call(this, statement, options);
  });
  try {
    const { status, text, markup } = await look('/search?id=que');
    expect([status, markup.includes('href="/offers/8"')]).toEqual([200, true]);
    expect(text).toContain('Clicks, conversions and users were not searched');
    expect((await look('/search?id=nowhere')).status).toBe(503);
  } finally {
    spy.mockRestore();
  }
});

it('search finds files by their path, and a user by the clicks of yesterday and today', async () => {
  const files = await look('/search?id=.ndjson');
  expect(files.text).toMatch(/file \d+ clicks\/\S+\.ndjson/);
  // All users of the small network have this id; it is too short for a text.
  expect((await look('/search?id=u')).location).toBe('/clicks?user=u');
});

it('search lists things that share an id, and explains itself where nothing has it', async () => {
  const shared = await look('/search?id=1');
  expect(shared.status).toBe(200);
  expect(shared.markup).toContain('href="/runs/1"');
  expect(shared.markup).toContain('href="/files/1"');
  const hostile = await look(`/search?id=${encodeURIComponent('<b>x</b>')}`);
  expect(hostile.text).toContain('Nothing has the id or the text “<b>x</b>”');
  expect(hostile.markup).not.toContain('<b>x');
  expect((await look('/search?id=2026-11-20T00:00:00Z')).text).toContain('Nothing has the id or the text');
  expect((await look('/search')).text).toContain('Enter a title, a user, a file or an id.');
});

it('snapshots are listed with their content, unreadable ones with the reason', async () => {
  const { published } = network.pipeline.data;
  const broken = join(published, '00000099-20261120T120000Z');
  await mkdir(broken);
  await writeFile(join(broken, 'manifest.json'), '{}');
  try {
    const { text, markup } = await look('/snapshots');
    expect(network.snapshots).toHaveLength(2);
    const [older = '', newer = ''] = network.snapshots;
    expect(text.indexOf(newer)).toBeLessThan(text.indexOf(older));
    expect(markup).toContain(`href="/snapshots/${older}/diff/${newer}"`);
    expect(text).toContain(
      '00000099-20261120T120000Z manifest.json: it is not as this version writes it: line 1: snapshot_id is missing',
    );
  } finally {
    await rm(broken, { recursive: true });
  }
});

it('two snapshots differ by a price, an offer, and the figures that follow', async () => {
  const [older = '', newer = ''] = network.snapshots;
  const { status, text } = await look(`/snapshots/${older}/diff/${newer}`);
  expect(status).toBe(200);
  expect(text).toMatch(/Offers added None\./);
  expect(text).toMatch(/Offers removed .* 9 Gone 1\.00 vanished 1 row/);
  expect(text).toMatch(/Offers with another price .* offer 2\.50 3\.00 \+ 0\.5 1 row/);
  const back = await look(`/snapshots/${newer}/diff/${older}`);
  expect(back.text).toMatch(/Offers added .* 9 Gone 1\.00 vanished 1 row/);
  expect((await look(`/snapshots/diff?before=${older}&after=${newer}`)).location).toBe(
    `/snapshots/${older}/diff/${newer}`,
  );
});

it.each([
  ['/snapshots/diff', 400, 'before and after have to name two snapshots'],
  ['/snapshots/none/diff/current', 404, 'there is no snapshot "none"; kept are'],
  ['/snapshots/current/diff/current', 400, 'Both are the same snapshot'],
  ['/figures/none', 404, 'There is no figure "none"'],
  ['/tables/none', 404, 'This snapshot has no table "none"'],
])('%s is answered with %i and a sentence', async (path, status, sentence) => {
  const shown = await look(path);
  expect(shown.status).toBe(status);
  expect(shown.text).toContain(sentence);
  expect(shown.text).not.toContain(network.pipeline.data.root);
});

it('a figure has its definition, its unit, and its query with the snapshot’s window', async () => {
  expect((await look('/figures')).markup).toContain('href="/figures/epc"');
  const { text } = await look('/figures/epc');
  expect(text).toContain('USD per click, gross');
  expect(text).toContain('offer_stats_2d .epc');
  expect(text).toContain("BETWEEN TIMESTAMPTZ '2026-11-19T00:00:00Z' AND TIMESTAMPTZ '2026-11-20T12:00:00Z'");
});

it('a table has columns, rows and neighbours, a step only neighbours', async () => {
  const list = await look('/tables');
  for (const { name } of await network.pipeline.ask<{ name: string }>('SHOW TABLES'))
    expect(list.markup).toContain(`href="/tables/${name}"`);
  const { text } = await look('/tables/offer_hourly');
  expect(text).toContain('Begin of the UTC hour');
  expect(text).toMatch(/ reads clicks_as_of staging/);
  expect((await look('/tables/offers')).text).toMatch(/ reads offer_versions warehouse .* is read by \w+ mart/);
  expect((await look('/tables/clicks')).text).toContain('Rows 7');
  const [step] = await network.pipeline.ask<{ table_name: string }>(
    `SELECT table_name FROM lineage WHERE layer = 'staging' ORDER BY 1 LIMIT 1`,
  );
  expect((await look(`/tables/${step?.table_name}`)).text).toContain(`Step ${step?.table_name}`);
});

const statics = fileURLToPath(new URL('../../../src/console/static/', import.meta.url));

it('/design shows each part with a name in the style sheet', async () => {
  const { status, markup, text } = await look('/design');
  expect(status).toBe(200);
  for (const part of [
    'figures',
    'waits',
    'state good',
    'state bad',
    'presets',
    'filters',
    'scrolled rows',
    'fold',
    'facts',
  ])
    expect(markup, part).toContain(`class="${part}`);
  for (const part of ['line-chart', 'small-multiples', 'sparkline', 'id', 'error'])
    expect(markup, part).toMatch(new RegExp(`class="[^"]*\\b${part}\\b`));
  // Money to two places with the rest on hover, a ratio in per cent, a moment, and a reason in place of a value.
  expect(markup).toContain('<data value="12345.678900" title="12345.678900">12,345.68</data>');
  expect(markup).toContain('<data value="0.123456" title="0.123456">12.35 %</data>');
  expect(text).toContain('2026-11-20 10:00:00');
  expect(text).toContain('– not yet');
});

it('the style sheet uses the tokens that it defines, and the script is at most 14 kB', () => {
  const base = readFileSync(new URL('../../../src/kit/html/base.css', import.meta.url), 'utf8');
  const css = base + readFileSync(`${statics}console.css`, 'utf8');
  const defined = new Set([...css.matchAll(/^ {2}(--[\w-]+):/gm)].map(([, name]) => name));
  const used = new Set([...css.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name));
  expect(used.size).toBeGreaterThan(15);
  expect([...used].filter((name) => !defined.has(name))).toEqual([]);
  expect([...defined].filter((name) => !used.has(name))).toEqual([]);
  // Colours are tokens: a part with one of its own would be wrong in the other theme.
  const rules = css.slice(css.indexOf('}'));
  expect(rules.match(/#[\da-f]{3,8}\b(?![^;{]*\{)/g) ?? []).toEqual([]);
  expect(readFileSync(`${statics}console.js`).byteLength).toBeLessThanOrEqual(14_000);
});

it('the page of a snapshot that is gone leads to the same page of one that is kept', async () => {
  const gone = await look('/offers?sort=title.up&snapshot=00000001-20200101T000000Z');
  expect(gone.status).toBe(410);
  expect(gone.markup).toContain(`href="/offers?snapshot=${network.snapshots[0]}&amp;sort=title.up"`);
  expect((await look('/snapshots')).text).toContain('the newest of each of the last 24 hours');
});

describe('a query of the reader', () => {
  const asked = (query: string) => look(`/sql?q=${encodeURIComponent(query)}`);

  it('is answered from the snapshot, as text, with the command that prints the same', async () => {
    const { markup, text } = await asked('SELECT title, 1 + 1 AS two FROM offers WHERE offer_id = 7');
    expect(markup).not.toContain(hostileTitle);
    expect(text).toContain(`title two ${hostileTitle} 2`);
    expect(markup).toContain('<data value="2">2</data>');
    expect(text).toContain('offerline sql ');
    expect((await asked('FROM range(1001)')).text).toContain('the first 1000 of 1001 rows');
    expect((await look('/sql')).text).toContain('Examples');
    expect((await look(`/sql?q=FROM+offers&csv=answer`)).headers.get('content-type')).toContain('text/csv');
    const [before] = network.snapshots;
    const older = await look(`/sql?q=${encodeURIComponent('SELECT snapshot_id FROM snapshot')}&snapshot=${before}`);
    expect(older.text).toContain(`snapshot_id ${before}`);
  });

  it('may call every function of the snapshot', async () => {
    const published = await network.pipeline.ask<{ name: string }>(
      `SELECT function_name AS name FROM duckdb_functions() WHERE function_type = 'table_macro' AND NOT internal ORDER BY name`,
    );
    expect(published.map(({ name }) => name)).toContain('figures_by_country');
    for (const { name } of published) {
      const { markup, text } = await asked(`FROM ${name}(${name === 'figures_explained' ? '7' : ''})`);
      expect(markup, text).not.toContain('role="alert"');
      expect(markup, name).toContain('id="answer"');
    }
  });

  it.each([
    ['SELEC 1', 'syntax error at or near "SELEC" LINE 1: SELEC 1 ^ (at SELEC in line 1)'],
    ["SELECT '", 'unterminated quoted string'],
    ['SELECT 1e400', 'a number beyond those of a DOUBLE'],
    ['DROP TABLE offers', 'a snapshot is only read'],
    ['PIVOT offers ON status', 'SUMMARIZE or SHOW, not PIVOT'],
    ['SELECT 1; SELECT 2', 'one query at a time'],
    ['EXPLAIN SELECT 1', 'takes one SELECT'],
    ['FROM nothing', 'there is no table "nothing"'],
    ['SELECT ip FROM clicks', 'there is no column "ip"'],
    ['SELECT c.user_agent FROM clicks AS c', '"user_agent"'],
    ['FROM main.clicks', 'name the table alone: "clicks"'],
    ['WITH a AS (FROM analytics.main.clicks) FROM a', 'name the table alone'],
    ['SELECT (SELECT count(*) FROM analytics.main.rejects)', 'name the table alone'],
    ["FROM '../*/events/*.parquet'", 'reads no files'],
    ["FROM READ_PARQUET('/etc/passwd')", "`offerline sql` does, for the snapshot's own files"],
    ["DESCRIBE '/etc/passwd.csv'", 'reads no files'],
    ["FROM query('FROM analytics.main.clicks')", 'may write'],
  ])('%s is refused with a sentence', async (query, sentence) => {
    const { status, text } = await asked(query);
    expect({ status, text }).toEqual({ status: 200, text: expect.stringContaining(sentence) as string });
    expect(text).not.toContain('203.0.113.9');
  });

  it('has no addresses, agents and rejected rows of logs in what it may read', async () => {
    for (const table of ['clicks', 'rejects', 'conversions'])
      expect((await asked(`FROM ${table}`)).markup).not.toMatch(/203\.0\.113\.9|Browser\/1/);
    expect((await asked('DESCRIBE clicks')).text).not.toContain('user_agent');
  });

  it('is ended beyond its memory, of which DuckDB counts no texts; the next is answered', slow, async () => {
    const { text } = await asked("SELECT repeat('x', 20000000) FROM range(40)");
    expect(text).toContain('more than the 512 MiB of a query');
    expect((await asked('SELECT 40 + 2 AS sum')).text).toContain('sum 42');
  });

  it('is ended where it takes too long', async () => {
    const endless = 'SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b';
    await expect(new SqlBox(100).ask(network.pipeline.data.current, endless)).rejects.toThrow('longer than 0.1 s');
  });
});
