/**
 * `node src/launch.mjs release/keep-directory.ts FILE`: makes a small data directory that has something in each store,
 * by the commands of this version, and packs it into a `.tar.gz`. A release keeps one, for tests of later versions.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');
const data = mkdtempSync(join(tmpdir(), 'offerline-kept-'));
const launcher = [...process.execArgv, join(root, 'src/cli/main.ts')];
const environment = { ...process.env, OFFERLINE_DATA: data };

async function offerline(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...launcher, ...words], { env: environment });
  return stdout;
}

/** Robots get no click. */
const browser =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

const offer = {
  external_id: 'kept-1',
  title: 'Kept',
  description: 'An offer of a network that is pulled.',
  countries: ['DE'],
  payout: '1.50',
  currency: 'USD',
  destination_url: 'https://kept.example/?click={click_id}',
};

const network = createServer((_request, response) => response.end(JSON.stringify({ offers: [offer] })));
try {
  network.listen(0, '127.0.0.1');
  await once(network, 'listening');
  const { port } = network.address() as AddressInfo;
  cpSync(join(root, 'data/example'), data, { recursive: true });
  const sites = JSON.parse(readFileSync(join(data, 'sites.json'), 'utf8')) as { sites: object[] };
  Object.assign(sites.sites[0] as object, { postback: { url: 'https://publisher.invalid/postback' } });
  writeFileSync(join(data, 'sites.json'), JSON.stringify(sites));
  const source = {
    source: 'kept',
    connector: 'http',
    base_url: `http://127.0.0.1:${port}`,
    postback: { token: 'example-only-token-of-kept-0123456789' },
    offers: {
      records: 'offers',
      fields: Object.fromEntries(Object.keys(offer).map((field) => [field, field])),
    },
  };
  writeFileSync(join(data, 'sources.json'), JSON.stringify({ sources: [source] }), { mode: 0o600 });
  await offerline('sources', 'pull', 'kept');
  await offerline('run', 'refresh', '--as-of', '2026-11-18T12:00:00Z');
  await offerline('console', 'add', 'kept', '--role', 'viewer');
  await click();
  // Large, and made again by every run.
  for (const folder of ['warehouse/copies', 'warehouse/scratch', 'serve'])
    rmSync(join(data, folder), { recursive: true, force: true });
  execFileSync('tar', ['-czf', resolve(process.argv[2] ?? 'kept.tar.gz'), '-C', data, '.']);
} finally {
  network.close();
  rmSync(data, { recursive: true, force: true });
}

/** Follows a link of the tracker, whose log lands when it ends. */
async function click(): Promise<void> {
  const tracker = spawn(process.execPath, [...launcher, 'track', '--port', '0', '--json'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let printed = '';
    for await (const text of tracker.stdout.setEncoding('utf8')) if ((printed += text as string).includes('}')) break;
    const { address } = JSON.parse(printed) as { address: string };
    const rows = JSON.parse(await offerline('sql', '--json', "SELECT offer_id FROM offers WHERE source = 'kept'")) as {
      rows: { offer_id: number }[];
    };
    const link = `${address}/redirect/manual-offer/${rows.rows[0]?.offer_id}/user/u-1/site/coinquest`;
    const answer = await fetch(link, { redirect: 'manual', headers: { 'user-agent': browser } });
    if (answer.status !== 302) throw new Error(`${link} is answered by ${answer.status}: ${await answer.text()}`);
  } finally {
    const ended = once(tracker, 'exit');
    tracker.kill('SIGTERM');
    await ended;
  }
}
