import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSites } from '../../src/kit/sites/sites.ts';
import { launcher, offerline } from '../support/command-line.ts';
import { command, endOf } from '../support/commands.ts';
import { declaredMetrics, namedMetrics } from '../support/monitoring.ts';
import { slow } from '../support/slow.ts';

let folder: string;
let child: ChildProcess | undefined;
/** What the service and its runs log. */
let logged: string;
beforeEach(() => {
  logged = '';
  folder = mkdtempSync(join(tmpdir(), 'offerline-start-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Starts a serving command and gives what it prints once it serves. */
async function started(data: string | undefined, ...words: string[]): Promise<{ address: string; printed: string }> {
  child = spawn(launcher.executable, [...launcher.words, ...words], {
    cwd: folder,
    env: { ...process.env, OFFERLINE_DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, to which a terminal would send Ctrl-C.
    detached: true,
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (logged += text));
  let printed = '';
  for await (const text of child.stdout?.setEncoding('utf8') ?? []) {
    printed += text as string;
    if (printed.includes('Ctrl-C stops.')) break;
  }
  return { printed, address: /http:\S+/.exec(printed)?.[0] ?? '' };
}

/** Runs a line as somebody pastes it. */
function shell(line: string): string {
  return execFileSync('bash', ['-c', line], { encoding: 'utf8' });
}

/** Credits, rejects and chargebacks that are written down as delivered. */
async function delivered(data: string): Promise<number> {
  const listed = await command(data, 'postbacks', 'list', '--state', 'delivered', '--limit', '1', '--json');
  return (JSON.parse(listed) as { count: number }).count;
}

it('fills the default data directory with a demo, refreshes, serves, and ends at SIGTERM', slow, async () => {
  const data = join(folder, 'data/var');
  // Settings that are there already block nothing, and stay.
  mkdirSync(join(data, 'demo'), { recursive: true });
  writeFileSync(join(data, 'offerline.json'), '{"snapshots_kept": 7, "rates": {"CHF": "1.1"}}');
  writeFileSync(join(data, 'demo/traffic.json'), '{"clicks_per_second": 1}');
  const { address, printed } = await started(undefined, 'start', '--port', '0');
  expect(JSON.parse(readFileSync(join(data, 'offerline.json'), 'utf8'))).toMatchObject({
    snapshots_kept: 7,
    rates: { CHF: '1.1', EUR: '1.08' },
    schedule: { refresh: { watch: true } },
  });
  const { sites } = readSites(join(data, 'sites.json'));
  expect(printed).toContain('Two failures are part of the demo');
  // The line to copy works as it is, and is the only one with a secret.
  const line = /^ {2}(curl .*)$/m.exec(printed)?.[1] ?? '';
  expect(JSON.parse(shell(`${line} -sS`))).toMatchObject({ offers: { length: 3 } });
  for (const { site_secret } of sites) expect(logged + printed.replace(line, '')).not.toContain(site_secret);
  const again = await command(data, 'console', 'link', '--json');
  const { link: enter } = JSON.parse(again) as { link: string };
  const entering = async () =>
    (await fetch(enter, { method: 'POST', headers: { origin: new URL(enter).origin }, redirect: 'manual' })).status;
  expect([await entering(), await entering()]).toEqual([303, 410]);

  expect((await fetch(`${address}/readyz`)).status).toBe(200);
  // One endpoint for the process: the service's and the schedule's.
  const measured = await (await fetch(`${address}/metrics`)).text();
  expect(measured).toMatch(/^offerline_snapshot_present 1$/m);
  expect(measured).toMatch(/^offerline_role\{role="writes"\} 1$/m);
  expect(measured).toMatch(/^offerline_runs_total\{pipeline="refresh",outcome="done"\} \d+$/m);
  const site = sites.find(({ variant, status }) => variant === 'C' && status === 'active');
  const list = await fetch(`${address}/c/api/v1/offers?site_key=${site?.site_key}&site_secret=${site?.site_secret}`);
  expect(list.status).toBe(200);
  const { total, offers } = (await list.json()) as { total: number; offers: { tracking_url: string }[] };
  expect(total).toBeGreaterThan(100);
  // Its links lead to the tracker that runs beside it.
  const link = offers[0]?.tracking_url ?? '';
  expect((await fetch(new URL('/readyz', link))).status).toBe(200);
  // Rules and dashboard name nothing that these processes do not have.
  const ofTracker = await (await fetch(new URL('/metrics', link))).text();
  const declared = declaredMetrics(`${measured}\n${ofTracker}`);
  expect(namedMetrics().filter((name) => !declared.has(name))).toEqual([]);
  const tracked = await fetch(link.replace('{user_id}', 'ann'), { redirect: 'manual' });
  expect([tracked.status, tracked.headers.get('cache-control')]).toEqual([204, 'no-store']);

  // The demo's publishers get what is due: by the refresh, or by the minute's pass that came before its end.
  await expect.poll(() => delivered(data), { timeout: 30_000 }).toBeGreaterThan(50);
  expect(logged).not.toContain('refused_address');

  // Two of its networks were pulled before the first refresh.
  const listed = JSON.parse(await command(data, 'sources', 'list', '--json')) as { sources: { connector: unknown }[] };
  expect(listed.sources).toHaveLength(5);
  expect(listed.sources.filter(({ connector }) => connector !== null)).toMatchObject(
    ['lumen', 'clickfield'].map((source) => ({ source, last_whole_pull_at: expect.any(String), records: 60 })),
  );

  // A second one on the same directory leaves to the first what belongs to it.
  writeFileSync(join(data, 'offerline.json'), '{"lock_wait_seconds": 0}');
  const before = readFileSync(join(data, 'sources.json'), 'utf8');
  expect(await offerline(data, 'start', '--demo', '--port', '0')).toMatchObject({ code: 3, stdout: '' });
  expect(readFileSync(join(data, 'sources.json'), 'utf8')).toBe(before);

  const exit = once(child as ChildProcess, 'close');
  // Process group and npm may both pass the signal on. The tracker and the console get it, too, and are not missed.
  process.kill(-(child?.pid as number), 'SIGINT');
  child?.kill('SIGINT');
  expect(await exit).toEqual([0, null]);
  expect(logged).not.toContain('is started again');
  const received = [...logged.matchAll(/(\d+) rewards received/g)].map(([, rewards]) => Number(rewards));
  expect(received.at(-1)).toBeGreaterThan(50);
  expect(received.at(-1)).toBeLessThanOrEqual(await delivered(data));
});

it('fills no directory that somebody named, and says what it lacks', slow, async () => {
  const data = join(folder, 'mine');
  for (const make of [() => {}, () => mkdirSync(join(data, 'landing/clicks'), { recursive: true })]) {
    make();
    const { code, stdout, stderr } = await endOf(data, 'start', '--port', '0');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/`offerline sites add`, begin with a copy of \S+data\/example, or pass --demo/);
  }
  expect(readdirSync(data)).toEqual(['landing']);
  // Nor one that has data of its own, where a demo is asked for.
  const asked = await endOf(data, 'start', '--demo', '--port', '0');
  expect(asked).toMatchObject({ code: 2, stdout: '' });
  expect(asked.stderr).toContain('pass --demo with another OFFERLINE_DATA');
  expect(readdirSync(join(data, 'landing'))).toEqual(['clicks']);
});

it('of two that fill a directory at once one does, and the other says why it does not', slow, async () => {
  const data = join(folder, 'new');
  mkdirSync(data);
  writeFileSync(join(data, 'offerline.json'), '{"lock_wait_seconds": 0}');
  void started(data, 'start', '--demo', '--port', '0');
  await expect.poll(() => readdirSync(data), { interval: 10, timeout: 30_000 }).toContain('.generating');
  const other = await offerline(data, 'start', '--demo', '--port', '0');
  expect(other).toMatchObject({ code: 3, stdout: '' });
  await expect.poll(() => readdirSync(data), { timeout: 30_000 }).toContain('sites.json');
  expect(readdirSync(join(data, 'landing'))).toEqual(expect.arrayContaining(['clicks', 'conversions', 'offers']));
});

it('a feed of own data is read without showing its secret, and one port moves all three listeners', slow, async () => {
  const data = join(folder, "own '$data");
  mkdirSync(join(data, 'landing'), { recursive: true });
  const site = { site_key: 'me & "you"', site_secret: 'a secret & more + 100 % of it' };
  writeFileSync(join(data, 'sites.json'), JSON.stringify({ sites: [site] }));
  const { printed } = await started(data, 'start', '--port', '0');
  expect(printed).not.toContain(site.site_secret);
  const line = /^ {2}(curl .*)$/m.exec(printed)?.[1] ?? '';
  expect(JSON.parse(shell(`${line} -sS`))).toMatchObject({ total: 0 });
  process.kill(-(child?.pid as number), 'SIGKILL');

  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const other = join(folder, 'other');
  cpSync(join(data, 'sites.json'), join(other, 'sites.json'));
  const { code, stderr } = await offerline(other, 'start', '--port', String(port - 2));
  taken.close();
  expect(code).toBe(2);
  expect(stderr).toContain(`port ${port} of 127.0.0.1 is in use`);
});

it('leaves a directory with something in it alone, whatever is in its name', slow, async () => {
  const data = join(folder, `it's [a-c] *b* #1 %41 "q" \\ $HOME ; 😀\n{x}`, 'data');
  await command(folder, 'generate', '--out', data, '--clicks', '500', '--clean');
  const { address } = await started(data, 'start', '--demo', '--port', '0');
  expect((await fetch(`${address}/readyz`)).status).toBe(200);
  const clicks = await offerline(data, 'sql', 'SELECT count(*) FROM clicks', '--format', 'csv');
  expect(clicks).toMatchObject({ code: 0, stdout: 'count_star()\n500\n' });
  const listed = () => command(data, 'postbacks', 'list', '--state', 'delivered', '--limit', '1');
  await expect.poll(listed, { timeout: 30_000 }).toMatch(/ delivered /);

  // The port is taken now: the service of another data directory says so and how to go on.
  const other = join(folder, 'other');
  cpSync(join(data, 'sites.json'), join(other, 'sites.json'));
  const second = await offerline(other, 'serve', '--port', new URL(address).port);
  expect(second).toMatchObject({ code: 2, stdout: '' });
  expect(second.stderr).toContain('choose another by port of offerline.json or --port');
  const tracker = await offerline(other, 'track', '--port', new URL(address).port);
  expect(tracker).toMatchObject({ code: 2, stdout: '' });
  expect(tracker.stderr).toContain('choose another by tracker.port of offerline.json or --port');
});
