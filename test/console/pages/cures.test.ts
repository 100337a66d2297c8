import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { acquireSchedulerLock } from '../../../src/cli/schedule/schedule.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { momentOfMilliseconds } from '../../../src/kit/time/moment.ts';
import { noteConfiguration } from '../../../src/pipeline/runs/configuration-note.ts';
import { RoleNote } from '../../../src/pipeline/runs/storage-role.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { killedRefresh } from '../../fault/lives/killed-refresh.ts';
import { endOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { consoleOver, type Look, type Shown } from './signed-in.ts';
import { slow } from '../../support/slow.ts';

const logger = createLogger({ write: () => true }, 'silent');
const ago = (minutes: number) => momentOfMilliseconds(Math.floor((Date.now() - minutes * 60_000) / 1000) * 1000);
const wall = { site_key: 'wall', site_secret: 'a-long-enough-secret', postback: { url: 'http://127.0.0.1:1/told' } };
const offers = Array.from({ length: 12 }, (_, index) => ({
  id: index + 1,
  external_id: `e${index}`,
  title: `Offer ${index}`,
  payout: '1',
}));
const click = (click_id: string, clicked_at: string, site_key = 'wall') => ({
  click_id,
  clicked_at,
  site_key,
  offer_id: 1,
  user_id: 'u',
});
const credit = (click_id: string) => ({
  conversion_id: `v-${click_id}`,
  click_id,
  kind: 'credit',
  occurred_at: ago(60),
});

interface BrokenState {
  /** The overview's line. */
  what: RegExp;
  /** The page that the line leads to. */
  page: RegExp;
  /** Text of that page besides the line. */
  shows: RegExp;
}

/** The first line of the overview that matches, and the page that its link leads to. */
async function followed(look: Look, what: RegExp): Promise<{ line: string; href: string; page: Shown }> {
  const { markup } = await look('/');
  const lines = [...markup.matchAll(/<li(?: class="alarm")?>\s*<div>(.*?)<\/li>/gs)].map(([, line = '']) => line);
  const line = lines.find((each) => what.test(plain(each)));
  if (line === undefined) throw new Error(`none is ${what}:\n${lines.map(plain).join('\n')}`);
  const href = /<a class="button" href="([^"]*)"/.exec(line)?.[1]?.replaceAll('&amp;', '&') ?? '';
  return { line: plain(line), href, page: await look(href) };
}

function plain(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** One click from the overview is a page that says the trouble again, with its command, and shows more. */
async function assertCured(look: Look, { what, page: expected, shows }: BrokenState): Promise<void> {
  const { href, page } = await followed(look, what);
  expect(href).toMatch(expected);
  expect(page.status, page.text).toBe(200);
  const head = /<section class="waits list" aria-label="To do here">(.*?)<\/section>/s.exec(page.markup)?.[1] ?? '';
  expect(plain(head)).toMatch(what);
  expect(head).toMatch(/<code>[^<]*offerline [a-z]/);
  expect(page.text).toMatch(shows);
}

let pipeline: PipelineUnderTest;
beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date(), {
    settings: { snapshot_max_age_minutes: 1 },
    sites: [wall],
  });
  await pipeline.landOffers('net', offers);
  await pipeline.landLog('clicks', 'ndjson', [
    click('one', ago(90)),
    click('two', ago(90)),
    click('three', ago(90), 'unknown'),
  ]);
  await pipeline.landLog('conversions', 'ndjson', ['one', 'two', 'three'].map(credit));
  await pipeline.refresh(ago(10));

  const { landing } = pipeline.data;
  await pipeline.landOffers('net', offers.slice(0, 1));
  await pipeline.landOffers('other', [{ external_id: 'x', title: '<b>X</b>', payout: '1,5' }]);
  await writeFile(join(landing, 'offers/other/headless.csv'), 'a;b\n"<i>1</i>";2\n');
  await writeFile(join(landing, 'clicks/no head.csv'), 'name;when\n203.0.113.9;Browser/1\n');
  await writeFile(join(landing, 'clicks/notes.log'), 'x');
  await pipeline.landLog('clicks', 'ndjson', [click('late', ago(3 * 24 * 60))]);
  await pipeline.refresh(ago(5));
  await endOf(pipeline.data.root, 'postbacks', 'deliver');
  // As ten failed attempts make one dead.
  const { database } = SqliteStore.open(pipeline.data);
  database.prepare(`UPDATE postbacks SET state = 'dead', next_attempt_at = NULL WHERE sequence = 1`).run();
  database.close();

  const network = createServer((_request, response) => void response.writeHead(401).end());
  network.listen(0, '127.0.0.1');
  await once(network, 'listening');
  const base_url = `http://127.0.0.1:${(network.address() as AddressInfo).port}`;
  const away = { source: 'away', connector: 'everflow', base_url, secrets: { api_key: 'not-for-eyes' } };
  await writeFile(pipeline.data.sourcesFile, JSON.stringify({ sources: [away] }), { mode: 0o600 });
  await endOf(pipeline.data.root, 'sources', 'pull');
  network.close();
}, 60_000);
afterAll(() => pipeline[Symbol.asyncDispose]());

async function opened(): Promise<Look> {
  const running = await consoleOver(pipeline.data);
  onTestFinished(() => running.close());
  return running.as('operator', `operator-${Math.random().toString(36).slice(2)}`);
}

it('a file that cannot be read shows why, its first rows and what helps; of a log no values', async () => {
  const look = await opened();
  const pages = ['offers/other/headless.csv', 'clicks/no head.csv'].map(async (path) => {
    const [file] = await pipeline.ask<{ file_id: number }>(`SELECT file_id FROM ingest_files WHERE path = '${path}'`);
    return look(`/files/${file?.file_id}`);
  });
  const [catalog, log] = await Promise.all(pages);
  expect(catalog?.text).toMatch(/missing_column : name its columns as data\/fields\.md does/);
  expect(catalog?.markup).toContain('href="/fields#file-missing_column"');
  expect(catalog?.text).toContain('a;b "<i>1</i>";2');
  expect(catalog?.markup).not.toContain('<i>1');
  expect(log?.text).toContain('name;when xxx.x.xxx.x;xxxxxxx/x');
  expect(log?.markup).not.toContain('203.0.113.9');
  const [, command = ''] = /<span data-copy><code>(offerline inspect .*?)<\/code>/.exec(log?.markup ?? '') ?? [];
  const typed = `offerline() { printf %s "$2"; }; ${command.replaceAll('&quot;', '"').replaceAll('&#39;', "'")}`;
  const env = { OFFERLINE_DATA: pipeline.data.root };
  expect(execFileSync('sh', ['-c', typed], { encoding: 'utf8', env })).toBe(
    join(pipeline.data.landing, 'clicks/no head.csv'),
  );
  const fields = (await look('/fields')).markup;
  for (const anchor of ['file-missing_column', 'reject-bad_payout', 'reject-missing_external_id'])
    expect(fields, anchor).toContain(`id="${anchor}"`);
  // Other bytes under its name are another file.
  await writeFile(join(pipeline.data.landing, 'clicks/no head.csv'), 'other bytes');
  const { file_id } =
    (
      await pipeline.ask<{ file_id: number }>(`SELECT file_id FROM ingest_files WHERE path = 'clicks/no head.csv'`)
    )[0] ?? {};
  expect((await look(`/files/${file_id}`)).text).toContain('They cannot be shown: another file has its name now');
});

describe('one click from the overview is the page of the cure, where', () => {
  it('files, sources and receivers are in trouble, and data is old', async () => {
    const look = await opened();
    const states: BrokenState[] = [
      { what: /^site wall has taken|site wall .*refused_address/, page: /^\/sites\/wall$/, shows: /Send a test/ },
      { what: /1 postback given up/, page: /^\/postbacks\?state=dead$/, shows: /Retry all 1: preview/ },
      { what: /1 conversion of the last 24 hours wait for site unknown/, page: /^\/sites/, shows: /unknown/ },
      { what: /an export of net is held/, page: /^\/files\/\d+$/, shows: /Accept it: preview/ },
      {
        what: /2 landing files cannot be read/,
        page: /^\/files\?status=quarantined$/,
        shows: /headless\.csv .*missing_column.*inspect <file> --write/,
      },
      {
        what: /1 row of the last 24 hours rejected, most for bad_payout/,
        page: /^\/rejects$/,
        shows: /bad_payout : "number" says/,
      },
      { what: /1 landing file not read \(clicks\/notes\.log/, page: /^\/machine$/, shows: /clicks\/notes\.log/ },
      { what: /source away was not pulled \(.*401/, page: /^\/sources$/, shows: /Pull now: preview/ },
      { what: /daily reports: .* missing/, page: /^\/days$/, shows: /Backfill: preview/ },
      { what: /the snapshot is \d+ minutes old/, page: /^\/runs$/, shows: /Refresh now: preview/ },
    ];
    for (const state of states) await assertCured(look, state);
  });

  it('sites.json cannot be read, and a run was killed', slow, async () => {
    const { data } = pipeline;
    const asOf = ago(4);
    const killAt = { step: 'models: committed', moment: 'after', occurrence: 1 } as const;
    const kill = { pipeline: 'refresh', root: data.root, asOf, wallClock: Date.parse(asOf), killAt } as const;
    expect((await killedRefresh(kill)).signal).toBe('SIGKILL');
    await writeFile(data.sitesFile, '{"sites": [\n{"site_key": 7}]}');
    onTestFinished(() => writeFile(data.sitesFile, JSON.stringify({ sites: [wall] })));
    const look = await opened();
    const ofSites = /sites\.json cannot be used.*line 2: sites\[0\]\.site_key is a whole number/;
    await assertCured(look, { what: ofSites, page: /^\/sites$/, shows: /wall/ });
    await assertCured(look, {
      what: /refresh.*and no run has been good since/,
      page: /^\/runs$/,
      shows: /interrupted/,
    });
  });

  it('the landing folder is gone, the disk is nearly full, and the store of deliveries is damaged', async () => {
    const { data } = pipeline;
    const { size } = await stat(data.stateFile);
    await rename(data.landing, `${data.landing}-away`);
    await rename(data.postbacks, `${data.postbacks}-away`);
    await mkdir(data.postbacks);
    await writeFile(join(data.postbacks, 'deliveries.sqlite'), 'no database at all'.repeat(1000));
    // Three of them would fill any disk.
    await truncate(data.stateFile, 2 ** 43);
    onTestFinished(async () => {
      await truncate(data.stateFile, size);
      await rename(data.postbacks, `${data.postbacks}-damaged`);
      await rename(`${data.postbacks}-away`, data.postbacks);
      await rename(`${data.landing}-away`, data.landing);
    });
    const look = await opened();
    const page = /^\/machine$/;
    await assertCured(look, {
      what: /landing does not exist: mount it again/,
      page,
      shows: /Landing folder .* does not exist/,
    });
    await assertCured(look, { what: /MiB of room, a run may need/, page, shows: /maintenance landing/ });
    await assertCured(look, { what: /deliveries/, page, shows: /doctor --repair/ });
  });

  it('storage is away, the clock is off, and another machine has another sites.json', async () => {
    const { data } = pipeline;
    const storage = { url: 's3://bucket/network', endpoint: 'http://127.0.0.1:1' };
    await pipeline.configure({ storage: { ...storage, access_key_id: 'i', secret_access_key: 'very/secret+key' } });
    const lock = await acquireSchedulerLock(data.storageScheduleLockFile);
    const note = new RoleNote(data.scheduleRoleFile, storage.url, { effects: realEffects, logger });
    await note.report({
      role: 'stands_by',
      writer: null,
      error: 'no whole answer (ECONNREFUSED)',
      clockOffset: 600_000,
    });
    const noting = { data, effects: realEffects, logger };
    await noteConfiguration(noting, { url: storage.url, files: ['sites.json'], run_id: 7 });
    onTestFinished(async () => {
      await noteConfiguration(noting, { url: storage.url, files: [], run_id: 7 });
      await note.forget();
      lock.release();
      await pipeline.configure({ snapshot_max_age_minutes: 1 });
    });
    const look = await opened();
    const page = /^\/machine$/;
    await assertCured(look, {
      what: /cannot use storage since .*ECONNREFUSED/,
      page,
      shows: /Storage now no whole answer/,
    });
    await assertCured(look, { what: /clock is 10 min ahead/, page, shows: /Clock 10 min ahead of that of storage/ });
    await assertCured(look, { what: /sites\.json here differs? from/, page, shows: /stands by/ });
    expect((await look('/machine')).markup).not.toContain('secret+key');
  });

  it('the published snapshot is damaged, and while nothing is published', async () => {
    const { data } = pipeline;
    const file = join(data.current, analyticsFile);
    const { size } = await stat(file);
    await truncate(file, Math.floor(size / 2));
    const damaged = await opened();
    await assertCured(damaged, { what: /snapshot .* cannot be read/, page: /^\/machine$/, shows: /doctor --repair/ });
    await rename(data.published, `${data.published}-away`);
    const bare = await opened();
    // No page of figures can be shown; the overview has what helps.
    const { line, page } = await followed(bare, /no snapshot was published yet/);
    expect(line).toContain('Refresh: preview');
    expect(page).toMatchObject({
      status: 503,
      text: expect.stringMatching(/offerline run refresh.* Overview/) as string,
    });
  });
});
