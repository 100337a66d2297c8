import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { setTimeout as passing } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { readSettings } from '../../src/kit/config/settings.ts';
import { pulledDemoSources, startDemoNetworks } from '../../src/demo/demo-networks.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { generate } from '../../src/demo/generate/generate.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { readStatus } from '../../src/pipeline/status/status.ts';
import { temporaryData } from '../support/published-snapshot.ts';

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

async function demoData(): Promise<DataDirectory> {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const filled = new DataDirectory(`${data.root}/filled`);
  const end = new Date('2026-11-20T12:00:00Z');
  await generate({ out: filled.root, seed: 1, clicks: 50, days: 1, end, offers: 60, pulled: pulledDemoSources });
  return filled;
}

/** Waits between tries pass at once. */
async function pull(data: DataDirectory) {
  const clock = {
    now: () => Date.now(),
    steady: () => performance.now(),
    wait: async () => passing(0),
    random: () => 0,
  };
  const pulled = await pullSources({ data, terminal }, realEffects, clock);
  return Object.fromEntries(pulled.map(({ source, status, records }) => [source, { status, records }]));
}

const alarms = async (data: DataDirectory) => (await readStatus(data, readSettings(data), Date.now())).alarms;

it('are pulled, fail once, and recover, as status tells', async () => {
  const data = await demoData();
  await using networks = await startDemoNetworks(data, terminal.logger);
  expect(networks).toBeDefined();
  const all = { lumen: { status: 'done', records: 12 }, clickfield: { status: 'done', records: 12 } };
  expect(await pull(data)).toEqual(all);
  expect(await alarms(data)).toEqual([]);
  expect(await pull(data)).toMatchObject({ lumen: { status: 'done' }, clickfield: { status: 'failed' } });
  expect(await alarms(data)).toEqual([expect.stringMatching(/^source clickfield was not pulled: .*HTTP 503/)]);
  expect(await pull(data)).toEqual(all);
  expect(await alarms(data)).toEqual([]);
});

it('have the same addresses at the next start, and others where another program has taken a port', async () => {
  const data = await demoData();
  const entries = () => readSources(data).sources;
  const addresses = () => entries().flatMap(({ base_url }) => base_url ?? []);
  const tokens = () => entries().flatMap(({ postback }) => postback?.token ?? []);
  await (await startDemoNetworks(data, terminal.logger))?.[Symbol.asyncDispose]();
  const first = addresses();
  const firstTokens = tokens();
  expect(new Set(firstTokens).size).toBe(5);
  // What an operator added stays.
  const written = JSON.parse(await readFile(data.sourcesFile, 'utf8')) as { sources: object[] };
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [{ source: 'mine' }, ...written.sources] }));
  await (await startDemoNetworks(data, terminal.logger))?.[Symbol.asyncDispose]();
  expect(entries()[0]).toMatchObject({ source: 'mine' });
  expect(addresses()).toEqual(first);

  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(Number(new URL(first[0] ?? '').port), '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  await using networks = await startDemoNetworks(data, terminal.logger);
  expect(networks).toBeDefined();
  expect(entries()[0]).toMatchObject({ source: 'mine' });
  expect(addresses()).toEqual([expect.not.stringMatching(`${first[0]}$`), first[1]]);
  expect(tokens()).toEqual(firstTokens);
  expect(await pull(data)).toMatchObject({ lumen: { status: 'done' }, clickfield: { status: 'done' } });
});

it('are none where the data directory is of no demo', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  expect(await startDemoNetworks(data, terminal.logger)).toBeUndefined();
});
