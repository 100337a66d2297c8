import { setTimeout } from 'node:timers/promises';
import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import type { Bench } from '../bench.ts';
import type { ServingData } from '../serve/serving-data.ts';
import type { Stand } from '../serve/stand.ts';
import { bareMilliseconds, StatementRecorder } from './bare-statements.ts';
import { coldPages, inTurn } from './cold-pages.ts';
import { ConsoleClient } from './console-client.ts';

/** One page that nobody had asked for before. */
export interface ColdAnswer {
  path: string;
  address: string;
  status: number;
  bytes: number;
  milliseconds: number;
  /** Processor time of the console meanwhile, which other programs on the machine distort less. */
  cpuMilliseconds: number;
  statements: number;
  /** Of the page's statements alone, right after it, on the same file with the same settings. */
  bareMilliseconds: number;
}

/** Below what a session may ask for in a second. Milliseconds between two pages. */
const between = 60;
/** The first look at a click has the console learn which file has which: two million and more clicks in a second. */
const clicksLearnedPerMillisecond = 2_000;

/** Every page asked for over HTTP of a console that runs by itself, one after the other, each address once. */
export async function measureColdPages(bench: Bench, stand: Stand, network: ServingData): Promise<ColdAnswer[]> {
  const { terminal, signal } = bench;
  const { data } = network;
  const snapshots = (await readdir(data.published)).filter((name) => /^\d/.test(name)).toSorted();
  const file = join(await realpath(data.current), analyticsFile);
  const server = await stand.console(data);
  const client = await ConsoleClient.enter(server);
  const recorder = await StatementRecorder.open(data);
  try {
    return await withDuckDB(file, { ...readOnly, threads: '1', memory_limit: '128MiB' }, async (connection) => {
      const cold = await coldPages(connection, snapshots);
      const clicks = cold.find(({ path }) => path === '/clicks/:id')?.addresses ?? [];
      await learnClicks();
      const answers: ColdAnswer[] = [];
      for (const { path, name, address } of inTurn(cold)) {
        signal.throwIfAborted();
        await setTimeout(between, undefined, { signal });
        const before = await server.process.cpuSeconds();
        const asked = await client.ask(address);
        const cpuMilliseconds = ((await server.process.cpuSeconds()) - before) * 1000;
        const statements = await recorder.statements(path, address);
        answers.push({
          path: name,
          address,
          ...asked,
          cpuMilliseconds,
          statements: statements.length,
          bareMilliseconds: await bareMilliseconds(connection, statements),
        });
      }
      return answers;

      async function learnClicks() {
        const [first, ...rest] = clicks;
        if (first === undefined) return;
        await client.ask(first);
        await recorder.statements('/clicks/:id', first);
        clicks.splice(0, clicks.length, ...rest);
        await setTimeout(2_000 + network.clicks / clicksLearnedPerMillisecond, undefined, { signal });
      }
    });
  } finally {
    terminal.logger.info({ snapshot: basename(file) }, 'console: cold pages asked for');
    recorder.close();
    await stand.stop(server);
  }
}
