import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Random, seedFor } from '../../../src/demo/generate/network/random.ts';
import { ownLogs } from '../../../src/tracker/logs/log-names.ts';
import type { EventKind } from '../../../src/kit/vocabulary/values.ts';
import { nodeArguments } from '../../support/command-line.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import type { StepMoment, StepPoint } from '../lives/watched-effects.ts';
import { Sent, tokenOfSource } from './sent.ts';
import type { ChildTracker } from './tracker-child.ts';

export interface KilledTracker {
  rounds: number;
  killed: number;
  /** Clicks and conversions that were answered for, and what was under way when the tracker was killed. */
  answered: number;
  lost: number;
  refused: number;
  files: number;
  /** Kills by the step and moment at which they came. */
  hits: Record<string, number>;
  /** Broken promises; empty when all were kept. */
  wrong: string[];
}

const connections = 12;
/** Files are handed over after a minute of the tracker's clock, and days end. */
const speed = 200;
const clockBegins = Date.UTC(2026, 2, 9, 20);

const opened: [step: string, moments: StepMoment[], maxOccurrence: number][] = [
  ['opened', ['before', 'after'], 2],
  ['folder of a new one synced', ['before', 'after'], 2],
  ['appended', ['before', 'half', 'after'], 30],
  ['synced', ['before', 'after'], 2],
  ['renamed', ['before', 'after'], 2],
  ['folder synced', ['before', 'after'], 2],
  ['recovered', ['before', 'after'], 1],
  ['recovered one renamed', ['before', 'after'], 1],
  ['folder of recovered one synced', ['before', 'after'], 1],
];
const points = (['clicks', 'conversions'] as const).flatMap((kind) =>
  opened.flatMap(([step, moments, maxOccurrence]) =>
    moments.map((moment) => ({ step: `log of ${kind}: ${step}`, moment, maxOccurrence })),
  ),
);

/**
 * Kills a tracker under load at its named steps and at random moments, and starts it again. Then compares what was
 * answered with the rows of its logs, and those with what a refresh makes of them.
 */
export async function killTracker(
  seed: number,
  rounds: number,
  onRound: (round: number) => void = () => {},
): Promise<KilledTracker> {
  const random = new Random(seedFor(seed, 'kills'));
  // Draws of its own: how much is sent depends on the machine, and the kills of a seed must not.
  const ofSenders = new Random(seedFor(seed, 'what is sent'));
  const sent = new Sent();
  const hits: Record<string, number> = {};
  const real = Date.now();
  await using pipeline = await PipelineUnderTest.create(new Date('2026-06-01T00:00:00Z'));
  const { data } = pipeline;
  writeSenders(pipeline);
  const destination_url = 'https://advertiser.example/?c={click_id}';
  await pipeline.landOffers('north', [{ external_id: 'one', id: 1, title: 'One', payout: '1', destination_url }]);
  await pipeline.refresh('2026-03-09T19:00:00Z');
  const clock = { at: clockBegins, real, speed };
  let killed = 0;
  for (let round = 1; round <= rounds; round++) {
    const point = random.chance(0.75) ? (points[random.below(points.length)] ?? null) : null;
    const killAt: StepPoint | null = point && { ...point, occurrence: 1 + random.below(point.maxOccurrence) };
    // Kills of the process are outlived in both modes.
    writeSettings(pipeline, random.pick(['power', 'process']));
    const child = launch({ root: data.root, clock, killAt });
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    let isOver = false;
    const address = await firstLine(child, ended);
    const sending =
      address === undefined
        ? []
        : Array.from({ length: connections }, () => sent.keepSending(address, ofSenders, () => isOver));
    // Long enough for a step to come, where one was chosen.
    await Promise.race([ended, setTimeout(killAt === null ? random.between(50, 900) : 1500)]);
    const dies = child.exitCode === null && child.signalCode === null;
    if (dies) child.kill('SIGKILL');
    const [, signal] = await ended;
    isOver = true;
    await Promise.all(sending);
    if (signal === 'SIGKILL') killed++;
    else sent.wrong.push(`round ${round}: the tracker ended by itself`);
    const name = dies || killAt === null ? 'at random' : `${killAt.step}, ${killAt.moment}`;
    hits[name] = (hits[name] ?? 0) + 1;
    onRound(round);
  }
  await endInPeace(launch({ root: data.root, clock, killAt: null }), sent);
  const wrong = [...sent.wrong, ...mistakesOfRows(pipeline, sent)];
  await pipeline.refresh('2026-05-31T00:00:00Z');
  wrong.push(...(await mistakesOfRefresh(pipeline)));
  const fates = [...sent.clicks.values(), ...sent.conversions.values()].map(({ fate }) => fate);
  const count = (fate: string) => fates.filter((each) => each === fate).length;
  return {
    rounds,
    killed,
    answered: count('answered'),
    lost: count('lost'),
    refused: count('refused'),
    files: ownLogs(data, 'clicks').length + ownLogs(data, 'conversions').length,
    hits,
    wrong,
  };
}

/** Writes the site that clicks, and the source that reports. */
export function writeSenders({ data }: Pick<PipelineUnderTest, 'data'>): void {
  const sites = [{ site_key: 'one', site_secret: 'a-secret-of-the-site-0123456789' }];
  writeFileSync(data.sitesFile, JSON.stringify({ sites }));
  const sources = [{ source: 'north', postback: { token: tokenOfSource } }];
  writeFileSync(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
}

function writeSettings({ data }: PipelineUnderTest, durability: 'power' | 'process'): void {
  writeFileSync(data.settingsFile, JSON.stringify({ trusted_proxies: ['127.0.0.1'], tracker: { durability } }));
}

function launch(what: ChildTracker): ChildProcess {
  const file = fileURLToPath(new URL('tracker-child.ts', import.meta.url));
  return spawn(process.execPath, [...nodeArguments, file, JSON.stringify(what)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The address of a tracker, undefined where it ended before it listened. */
async function firstLine(child: ChildProcess, ended: Promise<unknown>): Promise<string | undefined> {
  const line = once(child.stdout as NodeJS.ReadableStream, 'data').then(([bytes]) => String(bytes).trim());
  return Promise.race([line, ended.then(() => undefined)]);
}

/** A last life without a fault, in which senders send again what they got no answer for. */
async function endInPeace(child: ChildProcess, sent: Sent): Promise<void> {
  const ended = once(child, 'exit');
  const address = await firstLine(child, ended);
  if (address === undefined) throw new Error('the last tracker did not start');
  await sent.reportTheLost(address);
  child.kill('SIGTERM');
  await ended;
}

/** Differences between the rows of all logs and the answers, a line each. */
export function mistakesOfRows({ data }: PipelineUnderTest, sent: Sent): string[] {
  const wrong: string[] = [];
  for (const kind of ['clicks', 'conversions'] as const)
    for (const { path, isWhole } of ownLogs(data, kind)) if (!isWhole) wrong.push(`${path} was left unfinished`);
  const byUser = Map.groupBy(rowsOf(data, 'clicks'), ({ user_id }) => String(user_id));
  for (const [user, { fate, clickId }] of sent.clicks) {
    const rows = byUser.get(user) ?? [];
    if (fate === 'answered' && (rows.length !== 1 || rows[0]?.['click_id'] !== clickId))
      wrong.push(`the answered click ${clickId} has ${rows.length} rows`);
    if (fate === 'refused' && rows.length > 0) wrong.push(`the refused click of ${user} has ${rows.length} rows`);
    if (fate === 'lost' && rows.length > 1) wrong.push(`the lost click of ${user} has ${rows.length} rows`);
    byUser.delete(user);
  }
  for (const user of byUser.keys()) wrong.push(`${user} never clicked and has a row`);
  const byConversion = Map.groupBy(rowsOf(data, 'conversions'), ({ conversion_id }) => String(conversion_id));
  for (const [transaction, { fate }] of sent.conversions) {
    const rows = byConversion.get(`north:${transaction}`) ?? [];
    if (fate !== 'answered' || rows.length !== 1)
      wrong.push(`conversion ${transaction}, ${fate}, has ${rows.length} rows`);
    byConversion.delete(`north:${transaction}`);
  }
  for (const id of byConversion.keys()) wrong.push(`${id} was never reported and has a row`);
  return wrong;
}

/** Differences between the rows of all logs and what a refresh has made of them, a line each. */
export async function mistakesOfRefresh(pipeline: PipelineUnderTest): Promise<string[]> {
  const wrong: string[] = [];
  const files = (await pipeline.ask(
    `SELECT path, status::VARCHAR AS status, duplicates::INTEGER + rejected::INTEGER + warnings::INTEGER AS bad
     FROM ingest_files WHERE kind <> 'offers' AND (status <> 'loaded' OR duplicates + rejected + warnings > 0)`,
  )) as { path: string; status: string; bad: number }[];
  for (const { path, status, bad } of files) wrong.push(`${path} is ${status}, with ${bad} bad rows`);
  for (const kind of ['clicks', 'conversions'] as const) {
    const [found] = (await pipeline.ask(`SELECT count(*)::INTEGER AS rows FROM ${kind}`)) as { rows: number }[];
    const written = rowsOf(pipeline.data, kind).length;
    if (found?.rows !== written) wrong.push(`of ${written} ${kind} the refresh has ${found?.rows}`);
  }
  return wrong;
}

function rowsOf(data: PipelineUnderTest['data'], kind: EventKind): Record<string, unknown>[] {
  return ownLogs(data, kind).flatMap(({ path }) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
}
