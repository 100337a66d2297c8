import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/console/actions/actions.ts';
import { ActionJobs } from '../../../src/console/actions/jobs.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { PullLedger } from '../../../src/sources/pull-ledger.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { readAnalytics } from '../../../src/pipeline/snapshot/read-analytics.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { launcher } from '../../support/command-line.ts';
import { command } from '../../support/commands.ts';
import { consoleOver, type Look, type OpenConsole } from './signed-in.ts';
import { slow } from '../../support/slow.ts';

const asOf = '2026-11-20T12:00:00Z';
let data: DataDirectory;
let opened: OpenConsole;
let show: Look;
let snapshotId: string;
/** A held export, which would remove most of its source's offers. */
let heldFile: number;

beforeAll(async () => {
  data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-')));
  await command(
    data.root,
    'generate',
    '--out',
    data.root,
    '--clicks',
    '1500',
    '--days',
    '4',
    '--seed',
    '5',
    '--end',
    asOf,
  );
  await command(data.root, 'run', 'refresh', '--as-of', '2026-11-20T11:59:00Z');
  const hostile = '<img src=x onerror=alert(1)>';
  await writeFile(
    join(data.landing, 'offers', 'pollhive', 'zz.ndjson'),
    `{"external_id":${JSON.stringify(hostile)}}\n`,
  );
  const { snapshotId: published } = JSON.parse(
    await command(data.root, 'run', 'refresh', '--as-of', asOf, '--json'),
  ) as { snapshotId: string };
  snapshotId = published;
  [{ file_id: heldFile } = { file_id: 0 }] = await ask<{ file_id: number }>(
    `SELECT file_id FROM ingest_files WHERE path LIKE '%zz.ndjson'`,
  );
  giveUpOne();
  opened = await consoleOver(data);
  show = await opened.as('operator');
}, 120_000);
afterAll(async () => {
  await opened.close();
  await rm(data.root, { recursive: true, force: true });
});

it.each([
  '/clicks/%00',
  '/clicks/a%00b',
  '/clicks?id=%00',
  '/sites/%00',
  '/sites/a%00b?from=%00',
  '/sites?site=%00',
  '/offers/%00',
  '/offers/%00/explained',
  '/offers?source=%00&title=%00',
  '/tables/%00',
  '/figures/%00',
  '/snapshots/%00/diff/%00',
  '/snapshots/diff?before=%00&after=%00',
  '/runs/%00',
  '/files/%00',
  '/files?path=%00',
  '/postbacks/%00',
  '/postbacks?site=%00',
  '/search?q=%00',
  '/days?from=%00',
  '/actions/%00',
  '/?snapshot=%00',
  '/static/%00',
])('%s: there is no such page', async (path) => {
  expect(await show(path)).toMatchObject({ status: 404 });
});

const ask = <R>(sql: string) => readAnalytics(data.current, (query) => query<R>(sql));

/** Makes a postback dead, as ten failed attempts do. */
function giveUpOne(): void {
  const { database } = SqliteStore.open(data);
  database.prepare(`UPDATE postbacks SET state = 'dead', next_attempt_at = NULL WHERE sequence = 1`).run();
  database.close();
}

it.each(['/files', '/files/3', '/days', '/files?kind=offers&sort=rejected.down'])(
  'the tables of %s show the rows of their queries',
  async (path) => {
    const { status, markup } = await show(path);
    expect(status).toBe(200);
    const queries = [
      ...markup.matchAll(/<section class="table" id="(\w+)">.*?<pre class="sql"[^>]*><code>(.*?)<\/code>/gs),
    ];
    expect(queries.length).toBeGreaterThan(1);
    let compared = 0;
    for (const [, name = '', escaped = ''] of queries) {
      const sql = escaped
        .replaceAll('&#39;', "'")
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&');
      const rows = await ask<Record<string, unknown>>(sql.replaceAll('&quot;', '"'));
      const section = markup.slice(markup.indexOf(`id="${name}"`)).split('</section>')[0] ?? '';
      const columns = [...section.matchAll(/data-column="(\w+)"/g)].map(([, column = '']) => column);
      const cells = [...section.matchAll(/<tr>(<td.*?)<\/tr>/gs)].map(([, row = '']) =>
        [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => /value="([^"]*)"/.exec(cell)?.[1]),
      );
      expect(cells, name).toHaveLength(rows.length);
      // Badges and links have no `value`.
      const shown = cells.map((row) =>
        columns.flatMap((column, at) => (row[at] === undefined ? [] : [[column, row[at]]])),
      );
      expect(shown, name).toEqual(
        rows.map((row, index) => (shown[index] ?? []).map(([column = '']) => [column, String(row[column])])),
      );
      compared += shown.flat().length;
    }
    expect(compared).toBeGreaterThan(2);
  },
);

it('files add up, and a hostile id stays a text', async () => {
  const { text, markup } = await show(`/files/${heldFile}`);
  expect(text).toContain('State ◐ held');
  expect(text).toContain('Accept it: preview');
  expect(markup).not.toContain('<img');
  const [clicks] = await ask<{ file_id: number }>(
    `SELECT file_id FROM ingest_files WHERE kind = 'clicks' AND rejected > 0 LIMIT 1`,
  );
  const rejected = await show(`/files/${clicks?.file_id}`);
  expect(rejected.text).toContain('rows of logs hold IP addresses and user agents');
  const [raw] = await ask<{ raw: string }>(`SELECT raw FROM rejects WHERE file_id = ${clicks?.file_id} LIMIT 1`);
  expect(rejected.text).not.toContain(raw?.raw.slice(0, 30));
});

it('runs are live, with a chart and a table of stages, and the files that they read', async () => {
  const runs = await show('/runs');
  expect(runs.text).toMatch(/Last outcome of each pipeline on this machine.*refresh.*done/s);
  expect(runs.text).toContain(`refresh ● done`);
  expect(runs.text).toContain('Refresh now: preview');
  expect(runs.text).toContain('Duration of the newest 2 of these runs');
  expect((await show('/runs?status=failed')).text).toContain('No run matches.');
  const run = await show('/runs/2');
  expect(run.text).toContain(`${snapshotId} , what it changed`);
  expect(run.text).toMatch(/Stages of run 2 in their order; the longest is \w+/);
  expect(run.text).toMatch(/ingest ● done .* publish ● done/);
  expect(run.text).toContain('zz.ndjson');
});

it('a run that the live ledger no longer has comes from the snapshot', async () => {
  const recent = data.recentRunsFile;
  const kept = await readFile(recent);
  await rm(recent);
  try {
    const { text, markup } = await show('/runs/1');
    expect(text).toContain('ingest ● done');
    expect(markup).toContain('FROM run_stages');
    expect((await show('/runs')).text).toContain('No run matches. offerline run refresh starts one.');
  } finally {
    await writeFile(recent, kept);
  }
});

it('days have a calendar, and a form to backfill', async () => {
  const { text } = await show('/days?from=2026-11-17&to=2026-11-20');
  expect(text).toContain('UTC days 2026-11-17 to 2026-11-20');
  expect(text).toMatch(/2026-11-16 16 17 ▲ missing 18 ▲ missing 19 ▲ missing 20 ○ open/);
  expect(text).toContain('Backfill: preview');
  expect((await show('/days?from=2020-01-01&to=2020-02-01')).text).toContain(
    'None of these days has a report or traffic',
  );
});

it('postbacks are counted by site and state, filtered, and shown one by one', async () => {
  const { text, markup } = await show('/postbacks');
  const [{ postbacks } = { postbacks: 0 }] = await ask<{ postbacks: number }>(
    'SELECT count(*) AS postbacks FROM postbacks',
  );
  const sites = /id="sites".*?<\/section>/s.exec(markup)?.[0] ?? '';
  const counted = [...sites.matchAll(/value="(\d+)"/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  expect(counted).toBe(postbacks);
  expect(text).toContain('Retry all 1: preview');
  const dead = await show('/postbacks?state=dead');
  expect(dead.text).toContain('1 row');
  const id = /\/postbacks\/(pb_\w+)/.exec(dead.markup)?.[1] ?? '';
  const one = await show(`/postbacks/${id}`);
  expect(one.text).toContain('Waits for an operator');
  expect(one.text).toContain('Retry it: preview');
  expect((await show('/postbacks?site=nobody')).text).toContain('No postback matches.');
});

it('the form has the times of the address in UTC', async () => {
  const { markup } = await show('/postbacks?since=2026-11-27T10:00%2B02:00&until=2026-11-28');
  expect(markup).toContain('name="since" value="2026-11-27T08:00"');
  expect(markup).toContain('name="until" value="2026-11-28T00:00"');
});

it('the time that is shown is marked', async () => {
  const choices = async (path: string) => {
    const nav = /<nav class="presets" aria-label="Occurred">.*?<\/nav>/s.exec((await show(path)).markup)?.[0] ?? '';
    return [...nav.matchAll(/href="([^"]+)"( aria-current="true")?>([^<]+)</g)].map(([, href, mark, title]) => ({
      href,
      title,
      isShown: mark !== undefined,
    }));
  };
  const all = await choices('/postbacks');
  expect(all.filter(({ isShown }) => isShown).map(({ title }) => title)).toEqual(['any time']);
  const day = all.find(({ title }) => title === '24 hours')?.href ?? '';
  expect(day).toContain('since=');
  const ofDay = await choices(day);
  // None is marked where the hour has ended meanwhile.
  expect(ofDay.filter(({ isShown }) => isShown)).toEqual(ofDay.filter(({ href }) => href === day));
});

it('an empty page names the command that fills it', async () => {
  expect((await show('/sources')).text).toContain('No network is pulled: sources.json names none.');
  expect((await show('/actions')).text).toContain('No action was started here yet.');
});

it('a broken sources.json is reported by its key, without its content', async () => {
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [{ source: 'one', secrets: { key: 'not-for-eyes' } }] }));
  try {
    const { status, text } = await show('/sources');
    expect([status, text.includes('sources.json'), text.includes('not-for-eyes')]).toEqual([200, true, false]);
  } finally {
    await rm(data.sourcesFile);
  }
});

it('sources say when they are pulled next', async () => {
  const sources = [
    {
      source: 'one',
      connector: 'tune',
      base_url: 'http://127.0.0.1:1',
      every: '0 0 1 1 *',
      secrets: { NetworkId: 'n', api_key: 'not-for-eyes' },
    },
    { source: 'reporter', every: '0 0 2 2 *', postback: { token: 'not-for-eyes-either' } },
  ];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  try {
    const { text, markup } = await show('/sources');
    expect(text).toMatch(/one tune . it was never pulled .* 0 0 1 1 \* \d{4}-01-01 00:00:00/);
    expect(text).toContain('Pull now: preview');
    // Without the slash at its end it would find files of a source "one-more", too.
    expect(markup).toContain('href="/files?path=offers%2Fone%2F"');
    expect(text).toMatch(/reporter – it only reports conversions( – it is not pulled){3}/);
    expect(text).not.toContain('02-02 00:00:00');
    expect(markup).not.toContain('not-for-eyes');
  } finally {
    await rm(data.sourcesFile);
  }
});

it('sources without a new file say why', async () => {
  const names = ['acts', 'idle', 'never'];
  const sources = names.map((source) => ({ source, connector: 'everflow', secrets: { api_key: 'not-for-eyes' } }));
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  {
    using ledger = new PullLedger(data);
    ledger.end(ledger.begin('acts', asOf), asOf, { status: 'done', records: 0, conversion_lines: 7 });
    ledger.end(ledger.begin('idle', asOf), asOf, { status: 'done', records: 3, conversion_lines: 0 });
    ledger.end(ledger.begin('never', asOf), asOf, { status: 'failed', error: 'HTTP 503' });
  }
  try {
    const { text } = await show('/sources');
    expect(text).toMatch(/acts everflow .* 0 7 – it brought conversions alone .*idle .* 3 0 – it brought nothing new/);
    expect(text).toMatch(/never everflow .*( – none){2} – none was whole/);
  } finally {
    await rm(data.sourcesFile);
    await rm(data.sources, { recursive: true });
  }
});

it('each thing to do is listed once, and marked where status fails for it', async () => {
  const sources = [{ source: 'away', connector: 'everflow', secrets: { api_key: 'not-for-eyes' } }];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  {
    using ledger = new PullLedger(data);
    ledger.end(ledger.begin('away', asOf), asOf, { status: 'failed', error: 'HTTP 503' });
  }
  const again = await consoleOver(data);
  try {
    const overview = await (await again.as('operator', 'who-looks'))('/');
    const items = [...overview.markup.matchAll(/<li[^>]*>(.*?)<\/li>/gs)].map(([item]) => item);
    const pulls = items.filter((item) => item.includes('source away was not pulled'));
    expect(pulls).toHaveLength(1);
    expect(pulls[0]).toMatch(/^<li class="alarm">.*HTTP 503.*<code>offerline sources pull away<\/code>/s);
    expect(pulls[0]).toContain('href="/sources"');
    expect(items.some((item) => item.startsWith('<li>'))).toBe(true);
    const held = items.find((item) => item.includes(`offers accept ${heldFile}</code>`));
    expect(held).toContain(`href="/files/${heldFile}"`);
    expect(held).toContain('action="/actions/accept-export/preview"');
  } finally {
    await again.close();
    await rm(data.sourcesFile);
    await rm(data.sources, { recursive: true });
  }
});

it('the preview of each action shows its plan', slow, async () => {
  const jobs = await ActionJobs.open({ data, logger: createLogger({ write: () => true }, 'silent'), launcher });
  const [site] = await ask<{ site_key: string }>('SELECT site_key FROM postbacks ORDER BY site_key LIMIT 1');
  const plans: [name: string, given: Record<string, string>, text: string][] = [
    ['accept-export', { file_id: String(heldFile) }, 'active offers'],
    ['retry-postbacks', { all: 'yes' }, 'Dead postbacks to retry'],
    ['test-postback', { site_key: site?.site_key ?? '' }, 'with a reward of 0'],
    ['set-site', { site_key: site?.site_key ?? '', deny: 'source:arcadia' }, 'source:arcadia'],
    ['approve-site', { site_key: site?.site_key ?? '' }, 'What changes in sites.json'],
    ['pause-site', { site_key: site?.site_key ?? '' }, 'paused'],
    ['rotate-secret', { site_key: site?.site_key ?? '', now: 'yes' }, 'ends at once'],
    ['refresh', {}, 'Files to ingest'],
    ['pull', {}, 'Networks to pull'],
    ['backfill', {}, '2026-11-17'],
  ];
  expect(plans.map(([name]) => name).toSorted()).toEqual([...actions.keys()].toSorted());
  for (const [name, given, text] of plans)
    expect((await jobs.preview(name, given)).plan.join('\n'), name).toContain(text);
  await jobs.stop();
});

it('metrics are for programs of this machine, and for viewers', async () => {
  const asked = async (headers: Record<string, string> = {}) => {
    const answer = await fetch(`${opened.address}/metrics`, { headers });
    return { status: answer.status, text: await answer.text() };
  };
  const byProgram = await asked();
  expect(byProgram.text).toMatch(/^offerline_console_requests_total\{path="\/runs",status="200"\} \d+$/m);
  expect(byProgram.text).toMatch(/^offerline_console_snapshot_age_seconds \d/m);
  expect(byProgram.text).toContain('offerline_console_jobs_running 0');
  const throughProxy = { 'x-forwarded-for': '203.0.113.9' };
  expect((await asked(throughProxy)).status).toBe(401);
  const cookie = await opened.signIn('viewer', 'watcher');
  expect((await asked({ ...throughProxy, cookie })).status).toBe(200);
});

it('a viewer sees everything and no form of an action', async () => {
  const showViewer = await opened.as('viewer');
  for (const path of ['/runs', '/days', '/postbacks?state=dead', `/files/${heldFile}`, '/sources', '/actions']) {
    const { status, markup } = await showViewer(path);
    expect([path, status, markup.includes('class="action"')]).toEqual([path, 200, false]);
  }
});

describe('a wrong address', () => {
  it.each([
    ['/runs/one', 400, '"one" is not the number of a run'],
    ['/runs/999', 404, 'There is no run 999'],
    ['/runs?status=done', 400, 'it can be "failed", or left out'],
    ['/files/x', 400, '"x" is not the number of a file'],
    ['/files/99999', 404, 'has no file 99999'],
    ['/files?sort=path', 400, 'cannot be sorted by "path"'],
    ['/days?from=yesterday', 400, 'from "yesterday" is not a day'],
    ['/days?from=2026-11-21&to=2026-11-20', 400, 'to has to be the same or a later day'],
    ['/days?from=2000-01-01', 400, 'is more than 800 days'],
    ['/postbacks?state=lost', 400, 'it can be pending, delivering, delivered, dead'],
    ['/postbacks?since=now', 400, 'since "now" is not a time'],
    ['/postbacks/nobody', 404, 'There is no postback'],
    ['/actions/nobody', 404, 'There is no such action'],
  ])('%s gets %i and a sentence', async (path, status, sentence) => {
    const shown = await show(path);
    expect(shown.status).toBe(status);
    expect(shown.text).toContain(sentence);
  });
});

it('each table has its command, and its rows as CSV', async () => {
  for (const path of ['/', '/days', `/files/${heldFile}`, '/postbacks', '/offers', '/sites', '/sources', '/runs/1']) {
    const tables = (await show(path)).markup.split('<section class="table"').slice(1);
    expect(tables.length, path).toBeGreaterThan(0);
    for (const [index, table] of tables.entries()) {
      expect(table, `${path}, table ${index}`).toContain('On the command line: <code>');
      expect(table.includes('Download as CSV'), `${path}, table ${index}`).toBe(table.includes('<tbody>'));
    }
  }
});
