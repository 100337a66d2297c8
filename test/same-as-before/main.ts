import { DuckDBInstance } from '@duckdb/node-api';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { offerline } from '../support/command-line.ts';
import { startListening } from '../support/listening-process.ts';

/**
 * Holds what others see of a version against what they saw of the one before: figures, feeds, `--json`, published files
 * and HTTP answers, on the example and on a generated network. It knows nothing but commands and addresses.
 *
 * `node src/launch.mjs test/same-as-before/main.ts record FILE` writes down what this version gives,
 * `… compare FILE` prints what is another now, and exits 1 where anything is.
 */
const example = fileURLToPath(new URL('../../data/example', import.meta.url));
/** The order of rows in files may follow from threads, and links from where who listens. */
const fixed = {
  duckdb: { threads: 1 },
  public_url: 'https://api.example',
  tracking_url: 'https://tracker.example',
  trusted_proxies: ['127.0.0.1'],
};
const asOf = ['2026-11-18T06:00:00Z', '2026-11-18T12:00:00Z'] as const;

type Record_ = Record<string, string>;

class Seen {
  readonly all: Record_ = {};
  readonly #root: string;
  readonly #today = new Date().toISOString().slice(0, 10);

  constructor(root: string) {
    this.#root = root;
  }

  /** Short texts as they are, so that a difference can be read. */
  add(name: string, content: string): void {
    const plain = this.#plain(content);
    this.all[name] = plain.length <= 30_000 ? plain : `${plain.length} ${sha256(plain)} ${plain.slice(0, 500)}`;
  }

  /** Without what differs between two runs of one version: times of today, durations, ports, paths. */
  #plain(text: string): string {
    const day = this.#today.replaceAll('-', '');
    return (
      text
        .replaceAll(this.#root, '<data>')
        .replaceAll(new RegExp(`${this.#today}[T ][0-9:.]*(?:Z|\\+00(?::00)?)?`, 'g'), '<now>')
        .replaceAll(new RegExp(`${day}T\\d{6}Z`, 'g'), '<now>')
        .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
        .replaceAll(
          /("(?:(?:[a-z_]*_)?(?:age|lag|seconds|minutes|ms|duration|bytes)(?:_[a-z_]*)?)":\s?)-?[\d.]+/g,
          '$1<n>',
        )
        .replaceAll(/(\d+) (?:ms|s|min|h|days?) (?:ago|old)/g, '<n> ago')
        .replaceAll(/\b\d+\.\d (?=s\b)/g, '<n> ')
        .replaceAll(/\b\d+ minutes/g, '<n> minutes')
        .replaceAll(/("(?:manifest_)?sha256":\s*")[0-9a-f]+/g, '$1<digest>')
        // Bytes of databases.
        .replaceAll(/\b\d{7}\b/g, '<bytes>')
    );
  }
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** What a command prints, and how it ends where that is not well. */
async function printedBy(root: string, ...words: string[]): Promise<string> {
  const { code, stdout } = await offerline(root, ...words);
  return code === 0 ? stdout : `exit ${code}\n${stdout}`;
}

/** Tables and views row by row, comments, and every other file by its digest. */
async function seePublished(seen: Seen, name: string, root: string): Promise<void> {
  const folder = await realpath(join(root, 'published/current'));
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = relative(folder, path);
    if (/\.(?:json|ndjson)$/.test(file)) seen.add(`${name} file ${file}`, await readFile(path, 'utf8'));
    else seen.add(`${name} file ${file}`, 'there');
  }
  const instance = await DuckDBInstance.create(join(folder, 'analytics.duckdb'), { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  /** The rows, each of one text. */
  const ask = async (sql: string) =>
    (await connection.runAndReadAll(sql)).getRowsJson().map(([text]) => text as string);
  const relations = await ask(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY table_name`,
  );
  for (const table of relations)
    seen.add(
      `${name} table ${table}`,
      (await ask(`SELECT to_json(t)::VARCHAR FROM (FROM "${table}") AS t ORDER BY ALL`)).join('\n'),
    );
  seen.add(
    `${name} columns`,
    (
      await ask(`SELECT concat_ws(' ', table_name, column_name, data_type, comment) FROM duckdb_columns() ORDER BY ALL`)
    ).join('\n'),
  );
  connection.closeSync();
  instance.closeSync();
}

const commands = [
  ['status'],
  ['runs'],
  ['snapshots'],
  ['doctor', '--deep'],
  ['sites', 'list'],
  ['sources', 'list'],
  ['offers', 'held'],
  ['postbacks', 'list'],
  ['schedule', '--dry-run'],
  ['maintenance', 'landing', '--older-than', '1'],
  ['run', 'refresh', '--as-of', asOf[1], '--dry-run'],
  ['diff', '1', '2'],
  ['sql', 'FROM offer_stats_2d ORDER BY offer_id'],
  ['export', 'nothing', '--format', 'csv'],
  ['sql', 'FROM nothing'],
];

interface Site {
  site_key: string;
  site_secret: string;
}

/** Requests as publishers and strangers send them: all parameters, their mistakes, and what is no operation. */
function requestsOf(sites: readonly Site[]): string[] {
  const values: Record<string, string[]> = {
    type: ['offer', 'survey', 'ptc', 'banner', 'x', ''],
    limit: ['1', '7', '500', '0', '501', 'x', '1e2', '%20'],
    take: ['3', '-1'],
    offset: ['0', '2', '100000', '-1', '1.5'],
    skip: ['1', 'x'],
    country: ['US', 'de', 'ZZ', 'USA'],
    device: ['android', 'ios', 'desktop', 'tv'],
    category: ['games', 'Finance', '%C3%A9', 'nothing'],
    min_payout: ['0', '0.5', '1000', '-1', '1e3'],
    updated_since: [
      '2026-11-18',
      '2026-11-18T08:00:00Z',
      '2026-11-18T08:00:00+01:00',
      '2026-11-18T08%3A00%3A00%2B01%3A00',
      'yesterday',
    ],
    include_removed: ['0', '1', '2'],
    format: ['offerwall', 'banners', 'surveys', 'PTC', 'none', ''],
    user_id: ['u1', 'a%20b', '%F0%9F%98%80', '', 'x'.repeat(300)],
    click_id: ['c1', 'nothing', '%00', ''],
    unknown: ['1'],
  };
  const singles = Object.entries(values).flatMap(([name, each]) => each.map((value) => `${name}=${value}`));
  const pairs = singles.flatMap((one, at) => [singles[(at * 7 + 3) % singles.length]].map((two) => `${one}&${two}`));
  const requests: string[] = [];
  for (const { site_key, site_secret } of sites) {
    const identity = `site_key=${site_key}&site_secret=${encodeURIComponent(site_secret)}`;
    for (const path of ['/b/api/v1/offers', '/c/api/v1/offers', '/api/v1/offers', '/b/api/v1/offers/top-converting'])
      for (const more of ['', ...singles, ...pairs]) requests.push(`${path}?${identity}${more && `&${more}`}`);
    for (const more of ['', ...singles]) {
      requests.push(`/a/api/offers?site_key=${site_key}&user_id=u1&format=offerwall${more && `&${more}`}`);
      requests.push(`/a/api/click-lookup?site_key=${site_key}${more && `&${more}`}`);
    }
    for (const path of ['/c/api/v1/status', '/c/api/v1/reports', '/api/v1/reports'])
      for (const wrong of ['', '&site_key=x', 'x', '&a&&=b&%']) requests.push(`${path}?${identity}${wrong}`);
  }
  requests.push(
    '/',
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/docs',
    '/metrics',
    '/nothing',
    '/%',
    '//',
    '/c/api/v1/offers',
  );
  requests.push(
    `/c/api/v1/offers?${'x'.repeat(9000)}`,
    '/asset/images/offers/1',
    '/redirect/manual-offer/1/user/u/site/s',
  );
  return requests;
}

const keptHeaders = ['content-type', 'cache-control', 'etag', 'vary', 'allow', 'link', 'x-content-type-options'];

async function seeAnswers(seen: Seen, name: string, root: string): Promise<void> {
  const sitesFile = JSON.parse(await readFile(join(root, 'sites.json'), 'utf8')) as { sites: Site[] };
  const unlimited = sitesFile.sites.slice(0, 4).map((site) => ({ ...site, rate_limit_per_hour: 1_000_000 }));
  await writeFile(join(root, 'sites.json'), JSON.stringify({ sites: unlimited }), { mode: 0o600 });
  const serve = await startListening(root, 'serve');
  try {
    const { address } = serve;
    const requests = requestsOf(unlimited);
    let asked = 0;
    const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(address + path, {
        method,
        headers: { 'accept-encoding': 'identity', 'x-forwarded-for': `10.0.${asked >> 8}.${asked & 255}`, ...headers },
      });
      const body = await answer.text();
      const kept = keptHeaders.map((header) => `${header}: ${answer.headers.get(header) ?? ''}`).join('\n');
      asked++;
      return { etag: answer.headers.get('etag'), said: `${answer.status}\n${kept}\n\n${body}` };
    };
    for (const [index, path] of requests.entries()) {
      const { said, etag } = await ask('GET', path);
      // Its samples are of the moment.
      seen.add(
        `${name} GET ${path}`,
        path === '/metrics'
          ? said
              .replaceAll(/ [\d.e+-]+$/gm, ' <n>')
              .split('\n')
              .toSorted()
              .join('\n')
          : said,
      );
      if (index % 10 === 0) seen.add(`${name} HEAD ${path}`, (await ask('HEAD', path)).said);
      if (index % 10 === 1) seen.add(`${name} POST ${path}`, (await ask('POST', path)).said);
      if (etag !== null && index % 5 === 0)
        seen.add(`${name} GET again ${path}`, (await ask('GET', path, { 'if-none-match': etag })).said);
    }
    process.stdout.write(`${name}: ${asked} requests\n`);
  } finally {
    await serve.end('SIGTERM');
  }
}

async function seeAll(): Promise<Record_> {
  const work = await realpath(await mkdtemp(join(tmpdir(), 'offerline-same-')));
  const all: Record_ = {};
  try {
    const generated = join(work, 'generated');
    const sizes = ['--clicks', '20000', '--days', '4', '--seed', '7', '--end', asOf[1]];
    await printedBy(work, 'generate', '--out', generated, ...sizes);
    await cp(example, join(work, 'example'), { recursive: true, preserveTimestamps: true });
    for (const name of ['example', 'generated']) {
      const root = join(work, name);
      const seen = new Seen(root);
      const settings = JSON.parse(await readFile(join(root, 'offerline.json'), 'utf8')) as object;
      await writeFile(join(root, 'offerline.json'), JSON.stringify({ ...settings, ...fixed }));
      for (const moment of asOf)
        seen.add(`${name} refresh ${moment}`, await printedBy(root, 'run', 'refresh', '--as-of', moment, '--json'));
      await seePublished(seen, name, root);
      for (const words of commands) {
        seen.add(`${name} ${words.join(' ')} --json`, await printedBy(root, ...words, '--json'));
        seen.add(`${name} ${words.join(' ')}`, await printedBy(root, ...words));
      }
      await seeAnswers(seen, name, root);
      Object.assign(all, seen.all);
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return all;
}

const [doing, file] = process.argv.slice(2);
if ((doing !== 'record' && doing !== 'compare') || file === undefined)
  throw new Error('say `record FILE` or `compare FILE`');
const now = await seeAll();
if (doing === 'record') await writeFile(file, JSON.stringify(now, null, 1));
else {
  const before = JSON.parse(await readFile(file, 'utf8')) as Record_;
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (name) => before[name] !== now[name],
  );
  for (const name of names)
    process.stdout.write(`--- ${name}\n- ${before[name] ?? '(nothing)'}\n+ ${now[name] ?? '(nothing)'}\n`);
  process.stdout.write(`${Object.keys(now).length} things seen, ${names.length} of them another\n`);
  process.exitCode = names.length > 0 ? 1 : 0;
}
