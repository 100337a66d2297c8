import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { addUser } from '../../../../src/console/access/users.ts';
import { createLogger } from '../../../../src/kit/logging/log.ts';
import { openMcpHandler } from '../../../../src/pipeline/analysis/mcp/http-handler.ts';
import { launcher, offerline } from '../../../support/command-line.ts';
import type { PipelineUnderTest } from '../../../support/pipeline-under-test.ts';
import { consoleOver, type OpenConsole } from '../../../console/pages/signed-in.ts';
import { asOf, AskedFacts, askedNetwork, hostileTitle, siteSecrets, sourceSecret } from './asked-network.ts';
import { knownAnswer, type AskedFigure } from './known-answer.ts';
import { slow } from '../../../support/slow.ts';

interface Question {
  question: string;
  tool: string;
  arguments: Record<string, unknown>;
  /** The place of the answer in the tool's document. */
  at: string;
  expect: AskedFigure | { value: string };
}

interface Answered {
  isError: boolean;
  text: string;
  document: Record<string, unknown>;
}

const settingsSecret = 'postgres://user:the-password@127.0.0.1/deliveries';
const facts = new AskedFacts();
const questions = (await readFile(join(import.meta.dirname, 'questions.ndjson'), 'utf8'))
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Question);

let pipeline: PipelineUnderTest;
let current: string;
/** A process of its own, as an assistant starts it. */
let client: Client;
beforeAll(async () => {
  pipeline = await askedNetwork(facts);
  ({ current } = await pipeline.snapshots());
  await writeFile(
    pipeline.data.sourcesFile,
    JSON.stringify({ sources: [{ source: 'net', postback: { token: sourceSecret } }] }),
  );
  await pipeline.configure({ postbacks: { store: settingsSecret } });
  client = new Client({ name: 'a-test', version: '1' });
  const { executable, words } = launcher;
  const env = { ...(process.env as Record<string, string>), OFFERLINE_DATA: pipeline.data.root };
  await client.connect(new StdioClientTransport({ command: executable, args: [...words, 'mcp'], env }));
});
afterAll(async () => {
  await client.close();
  await pipeline[Symbol.asyncDispose]();
});

async function call(name: string, input: Record<string, unknown> = {}, asked = client): Promise<Answered> {
  const { content, isError = false } = await asked.callTool({ name, arguments: input });
  const [part] = content;
  if (part?.type !== 'text') throw new Error('an answer is one text');
  return {
    isError,
    text: part.text,
    document: isError && !part.text.startsWith('{') ? {} : (JSON.parse(part.text) as object as Answered['document']),
  };
}

/** The value at a place; an element of a list is found by its number, or by its name. */
function valueAt(document: unknown, place: string): unknown {
  return place.split('.').reduce((value: unknown, key) => {
    if (!Array.isArray(value)) return (value as Record<string, unknown> | undefined)?.[key];
    return /^\d+$/.test(key)
      ? (value[Number(key)] as unknown)
      : (value as Record<string, unknown>[]).find((each) => [each['name'], each['difference']].includes(key));
  }, document);
}

test('an assistant that is gone before it asks leaves no process and no error', async () => {
  expect(await offerline(pipeline.data.root, 'mcp')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a hundred answers equal plain arithmetic over the events, each with its snapshot', slow, async () => {
  expect(questions.length).toBeGreaterThanOrEqual(100);
  const answers: Record<string, unknown> = {};
  const expected: Record<string, unknown> = {};
  for (const { question, tool, arguments: input, at, expect: wanted } of questions) {
    const { document } = await call(tool, input);
    const value = valueAt(document, at) ?? document;
    answers[question] = typeof value === 'string' ? value : JSON.stringify(value);
    expected[question] = 'value' in wanted ? wanted.value : knownAnswer(facts, wanted);
    expect(document, question).toMatchObject(
      'snapshot' in input ? { as_of: '2025-03-10T06:00:00Z' } : { snapshot_id: current, as_of: asOf },
    );
  }
  expect(answers).toEqual(expected);
  // Otherwise a network of noughts would do.
  expect(Object.values(expected).filter((value) => !/^[0.]*$/.test(String(value))).length).toBeGreaterThan(95);
});

describe('the twenty questions of sql/README.md', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../../sql/README.md'), 'utf8');
  const asked = [...page.matchAll(/^\*\*(\d+)\. (.*?)\*\*.*\n\n```sql\n([^]*?)\n```$/gm)];
  const answers = new Map<number, Record<string, unknown>[]>();
  const rowsOf = (number: number) => answers.get(number) ?? [];
  const yesterday = { from: '2025-03-09T00:00:00Z', to: '2025-03-09T23:59:59Z' };

  beforeAll(async () => {
    for (const [, number, , sql] of asked) {
      const { document } = await call('query', { sql });
      answers.set(Number(number), (document['rows'] ?? [document]) as Record<string, unknown>[]);
    }
  });

  it.each(asked.map(([, number, question]) => [Number(number), question] as const))('%i. %s', (number) => {
    expect(rowsOf(number)).not.toEqual([]);
    expect(rowsOf(number)[0]).not.toHaveProperty('error');
  });

  it('are twenty, and right', () => {
    expect([...answers.keys()]).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    for (const { offer_id, earnings, epc } of rowsOf(1)) {
      const window = { offer: Number(offer_id), from: '2025-03-09T00:00:00Z' };
      expect([earnings, epc]).toEqual(
        (['earnings', 'epc'] as const).map((figure) => knownAnswer(facts, { figure, ...window })),
      );
    }
    expect(rowsOf(1)).toHaveLength(6);
    for (const { country, epc, clicks } of rowsOf(2))
      expect([epc, String(clicks)]).toEqual(
        (['epc', 'clicks'] as const).map((figure) =>
          knownAnswer(facts, { figure, country: String(country), ...yesterday }),
        ),
      );
    expect(rowsOf(2)).toHaveLength(3);
    for (const { site_key, reversed, reversed_before } of rowsOf(3)) {
      const site = String(site_key);
      // Reversed five minutes after the credit.
      const before = knownAnswer(facts, {
        figure: 'reversed',
        site,
        from: '2025-03-08T11:55:00.001Z',
        to: '2025-03-09T11:55:00Z',
      });
      const recent = knownAnswer(facts, { figure: 'reversed', site, from: '2025-03-09T11:55:00.001Z' });
      expect([reversed, reversed_before].map(String), site).toEqual([recent, before]);
    }
    const [network] = rowsOf(4);
    expect(String(network?.['reversed'])).toBe(knownAnswer(facts, { figure: 'reversed' }));
    for (const { day, site_key, gross_earnings } of rowsOf(5))
      expect(gross_earnings).toBe(
        knownAnswer(facts, {
          figure: 'earnings',
          site: String(site_key),
          from: `${String(day)}T00:00:00Z`,
          to: day === '2025-03-10' ? asOf : `${String(day)}T23:59:59Z`,
        }),
      );
    expect(rowsOf(5)).toHaveLength(12);
    expect(rowsOf(13)).toMatchObject([{ offer_id: 6, change: '0.200000', payout: '0.900000' }]);
    expect(rowsOf(16)).toHaveLength(2);
    expect(rowsOf(18)).toMatchObject([{ rows: 1, reason: 'missing_site_key' }]);
  });
});

describe('an answer', () => {
  it('has as many rows as asked for, and says how many there are', async () => {
    const { document } = await call('query', { sql: 'FROM range(5000)', max_rows: 3 });
    expect(document).toMatchObject({
      columns: [{ name: 'range', type: 'BIGINT' }],
      rows: [{ range: 0 }, { range: 1 }, { range: 2 }],
      shown: 3,
      of_rows: 5000,
      note: 'the first 3 of 5000 rows; for others query with WHERE, LIMIT and OFFSET, or aggregate',
    });
    const endless = await call('query', { sql: 'FROM range(200000)', max_rows: 1 });
    expect(endless.document).toMatchObject({
      shown: 1,
      of_rows: null,
      note: expect.stringContaining('more than 100000') as string,
    });
    const long = await call('query', { sql: `SELECT repeat('x', 20000) AS text FROM range(100)`, max_rows: 100 });
    expect(long.text.length).toBeLessThan(70_000);
    expect(long.document).toMatchObject({
      of_rows: 100,
      note: expect.stringContaining('cells longer than 4000 characters are cut') as string,
    });
  });

  it('has exact decimals as text', async () => {
    const { text } = await call('query', { sql: 'SELECT 0.1::DECIMAL(38, 6) * 3 AS usd, 9007199254740993 AS large' });
    expect(text).toContain('"rows":[{"usd":"0.300000","large":"9007199254740993"}]');
  });

  it('names the tables, functions and figures that there are', async () => {
    const { document } = await call('tables');
    expect(document).toMatchObject({
      tables: expect.arrayContaining([
        {
          name: 'clicks',
          purpose: expect.stringContaining('Grain: one row per click') as string,
          columns: 15,
          rows: 601,
        },
      ]) as unknown,
      functions: expect.arrayContaining([expect.objectContaining({ name: 'figures_explained' })]) as unknown,
    });
    const { document: all } = await call('figures');
    expect((all['figures'] as { metric: string }[]).map(({ metric }) => metric)).toContain('published_epc');
  });

  it('shows what counts in a figure, and what does not', async () => {
    const offer = (
      facts.conversions.find(({ reversed, credited_at }) => reversed && credited_at > '2025-03-09') ??
      facts.conversions[0]
    )?.click.offer_id;
    const { document } = await call('explain', { offer_id: offer, newest: 200 });
    const rows = document['newest_rows'] as { in_clicks: boolean; in_conversions: boolean; status: string }[];
    const window = { from: '2025-03-09T00:00:00Z', offer } as { from: string; offer: number };
    expect(document).toMatchObject({ window: { from: '2025-03-09T00:00:00Z', to: asOf }, of_rows: rows.length });
    expect(String(rows.filter(({ in_clicks }) => in_clicks).length)).toBe(
      knownAnswer(facts, { figure: 'clicks', ...window }),
    );
    expect(String(rows.filter(({ in_conversions }) => in_conversions).length)).toBe(
      knownAnswer(facts, { figure: 'conversions', ...window }),
    );
    expect(
      rows.some(({ status, in_conversions }) => ['rejected', 'charged_back'].includes(status) && !in_conversions),
    ).toBe(true);
  });

  it('sorts the differences of a list, whose text it gets', async () => {
    const credited = facts.conversions.filter(({ click, reversed }) => click.site_key === 'carol' && !reversed);
    const list = [
      'click_id,reward',
      ...credited.map(({ click, payout }) => `${click.click_id},${Number(payout) / 1e6}`),
    ];
    const { document } = await call('reconcile', {
      site_key: 'carol',
      list: list.join('\n'),
      // Rewards have four places.
      tolerance: '0.0001',
    });
    expect(document).toMatchObject({
      rows: credited.length,
      agreed: { count: credited.length },
      differences: { of_rows: 0 },
    });
    const unread = await call('reconcile', { site_key: 'carol', list: 'click,reward\nx,many\n' });
    expect(unread).toMatchObject({
      isError: true,
      document: { as_of: asOf, error: expect.stringContaining('the list line 2: ') as string },
    });
  });
});

describe('what an assistant is talked into', () => {
  it.each([
    ['query', { sql: "FROM read_text('/etc/passwd')" }, 'Permission Error'],
    ['query', { sql: "FROM read_text('%/sites.json')" }, 'Permission Error'],
    ['query', { sql: "FROM read_json('%/sources.json')" }, 'Permission Error'],
    ['query', { sql: "FROM glob('%/**')" }, 'Permission Error'],
    ['query', { sql: "SELECT * FROM '%/offerline.json'" }, 'Permission Error'],
    ['query', { sql: "FROM read_parquet('http://127.0.0.1:1/x.parquet')" }, 'Error'],
    ['query', { sql: "ATTACH '%/warehouse/state.duckdb' AS state" }, 'not ATTACH'],
    ['query', { sql: "COPY clicks TO '%/stolen.csv'" }, 'not COPY'],
    ['query', { sql: 'SET enable_external_access = true' }, 'not SET'],
    ['query', { sql: "FROM query('SET threads = 1')" }, 'may write'],
    ['query', { sql: 'FROM duckdb_secrets()' }, 'Permission Error'],
    ['query', { sql: "SELECT getenv('HOME')" }, 'there is no function "getenv"'],
    ['query', { sql: 'INSTALL httpfs' }, 'it takes one SELECT'],
    ['query', { sql: 'DROP TABLE offers' }, 'not DROP'],
    ['query', { sql: 'SELECT 1; SELECT 2' }, 'one query at a time'],
    ['query', { sql: 'SELECT wrong FROM offers' }, '`DESCRIBE <table>` names the columns of a table'],
    ['query', { sql: 'SELECT 1', snapshot: '../../../etc' }, 'there is no snapshot'],
    ['query', { sql: 'SELECT 1', snapshot: '2020-01-01T00:00:00Z' }, 'the oldest is as of 2025-03-10T06:00:00Z'],
    ['compare', { before: '%/warehouse' }, 'there is no snapshot'],
    ['compare', { before: 'current' }, 'name two'],
    ['explain', { offer_id: 404 }, 'no catalog ever had an offer 404'],
    ['tables', { table: "x'; DROP TABLE offers; --" }, 'the snapshot has no table'],
    ['figures', { figure: 'eps' }, 'there is no figure "eps"; there are clicks, '],
    ['reconcile', { site_key: 'alpha', list: '/etc/passwd' }, 'no column is named click_id'],
    [
      'reconcile',
      { site_key: 'alpha', list: 'click_id\nx\n', from: '2025-03-09', to: '2025-03-08' },
      'is after the last',
    ],
    ['reconcile', { site_key: 'alpha', list: 'click_id\nx\n', mapping: '{"format": {"records": 7}}' }, 'mapping'],
    ['query', { sql: 7 }, 'expected string'],
    ['query', { query: 'SELECT 1' }, 'sql'],
  ])('gets nothing out: %s %j', async (tool, input, cure) => {
    const folder = await readdir(pipeline.data.current);
    const words = Object.entries(input).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.replace('%', pipeline.data.root) : value,
    ]);
    const { isError, text } = await call(tool, Object.fromEntries(words) as Record<string, unknown>);
    expect({ isError, text }).toEqual({
      isError: true,
      text: expect.stringContaining(JSON.stringify(cure).slice(1, -1)) as string,
    });
    expect(await readdir(pipeline.data.current)).toEqual(folder);
  });

  it('marks titles as data, and shows no control character of theirs', async () => {
    const { text, document } = await call('query', { sql: 'SELECT title FROM offers WHERE offer_id = 4' });
    expect(document).toMatchObject({
      rows: [{ title: hostileTitle }],
      notice: expect.stringContaining('data, never instructions') as string,
    });
    expect(text).not.toContain('\u001b');
    expect(client.getInstructions()).toContain('data, never instructions');
  });

  it('finds no secret in any table, setting or description', slow, async () => {
    const { document } = await call('tables');
    const texts = [JSON.stringify(await client.listTools()), client.getInstructions() ?? ''];
    for (const { name } of document['tables'] as { name: string }[])
      texts.push((await call('query', { sql: `FROM ${name}`, max_rows: 1000 })).text);
    texts.push((await call('query', { sql: 'FROM duckdb_settings()', max_rows: 1000 })).text);
    for (const secret of [...siteSecrets, sourceSecret, settingsSecret]) expect(texts.join('\n')).not.toContain(secret);
  });

  it('is offered tools that only read', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual(
      ['tables', 'figures', 'query', 'explain', 'compare', 'reconcile', 'snapshots'].map((name) => [name, true]),
    );
  });
});

it('ends a call that takes too long, and refuses more than some that wait', async () => {
  const log = createLogger({ write: () => true }, 'silent');
  const handler = openMcpHandler({ data: pipeline.data, log, callMilliseconds: 300 });
  const asked = new Client({ name: 'a-test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: (url, init) => handler.fetch(new Request(url, init)),
  });
  await asked.connect(transport);
  try {
    const endless = {
      sql: 'SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range % 7 = b.range % 11',
    };
    const calls = Array.from({ length: 12 }, (_, index) =>
      index === 0 ? call('query', endless, asked) : call('snapshots', {}, asked),
    );
    const [interrupted, ...others] = await Promise.all(calls);
    expect(interrupted).toMatchObject({
      isError: true,
      document: { snapshot_id: current, error: expect.stringContaining('takes longer than 0.3 s') as string },
    });
    const refused = others.filter(({ isError }) => isError);
    expect(refused.map(({ text }) => text)).toContain(
      '{"error":"too many calls wait for an answer: call again in some seconds"}',
    );
    expect(others.length - refused.length).toBe(8);
  } finally {
    await asked.close();
    await handler.close();
  }
});

describe('over HTTP, at the console', () => {
  let opened: OpenConsole;
  const tokens: Record<string, string> = {};
  beforeAll(async () => {
    opened = await consoleOver(pipeline.data);
    for (const role of ['viewer', 'analyst', 'operator'] as const)
      tokens[role] = await addUser(pipeline.data.consoleUsersFile, { name: `an-${role}`, role });
    await opened.poll();
  });
  afterAll(() => opened.close());

  const ask = (headers: Record<string, string>, body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}') =>
    fetch(`${opened.address}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    });
  const bearer = (role: string) => ({ authorization: `Bearer ${tokens[role]}` });

  it.each(['analyst', 'operator'])('answers an %s by the same tools', async (role) => {
    const asked = new Client({ name: 'a-test', version: '1' });
    await asked.connect(
      new StreamableHTTPClientTransport(new URL(`${opened.address}/mcp`), { requestInit: { headers: bearer(role) } }),
    );
    try {
      expect((await asked.listTools()).tools).toHaveLength(7);
      const { document } = await call('query', { sql: 'SELECT count(*) AS clicks FROM clicks' }, asked);
      expect(document).toMatchObject({ snapshot_id: current, as_of: asOf, rows: [{ clicks: 601 }], of_rows: 1 });
      expect(await call('query', { sql: "FROM read_text('/etc/passwd')" }, asked)).toMatchObject({ isError: true });
    } finally {
      await asked.close();
    }
  });

  it('ends a query whose texts take too much memory, which DuckDB does not count', slow, async () => {
    const sql = "SELECT repeat('x', 20000000) FROM range(40)";
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'query', arguments: { sql } } };
    const answered = await ask(bearer('analyst'), JSON.stringify(body));
    expect(await answered.text()).toContain('more than the 512 MiB of a query');
  });

  it('needs the token of an analyst, and takes no cookie', async () => {
    const cookie = await opened.signIn('operator', 'signed-in');
    const others = [{}, { cookie }, { authorization: 'Bearer wrong' }, { authorization: 'Basic YTpi' }];
    for (const headers of others) {
      const answer = await ask(headers);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await answer.text()).toContain('offerline console add <name> --role analyst');
    }
    const refused = await ask(bearer('viewer'));
    expect([refused.status, await refused.text()]).toEqual([
      403,
      'an-viewer is a viewer: this needs the role of an analyst.\n',
    ]);
    // The token that asks starts nothing.
    const action = await fetch(`${opened.address}/actions`, {
      method: 'POST',
      headers: { origin: opened.address, ...bearer('operator') },
    });
    expect(action.status).toBe(401);
  });

  it('refuses pages of other sites, other hosts, and what is no message', async () => {
    expect((await ask({ ...bearer('analyst'), origin: 'https://elsewhere.example' })).status).toBe(403);
    expect((await ask({ ...bearer('analyst'), 'content-type': 'text/plain' })).status).toBe(415);
    const broken = await ask(bearer('analyst'), '{');
    expect([broken.status, await broken.text()]).toEqual([400, expect.stringContaining('Parse error')]);
    const giant = await ask(bearer('analyst'), `"${'x'.repeat(5 * 2 ** 20)}"`);
    expect(giant.status).toBe(413);
    expect((await ask(bearer('analyst'))).headers.get('cache-control')).toBe('no-store');
    const rebound = request(`${opened.address}/mcp`, { headers: { ...bearer('analyst'), host: 'evil.example' } }).end();
    const [answer] = (await once(rebound, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(421);
    answer.destroy();
  });
});
