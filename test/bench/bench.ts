import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from '../../src/demo/generate/generate.ts';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import type { Terminal } from '../../src/kit/logging/progress.ts';

export interface BenchOptions {
  /** Clicks on all days together. */
  clicks: number;
  /** Calendar days that they are spread over. */
  days: number;
  /** Pairs that are measured; medians are taken over them. */
  rounds: number;
  seed: number;
  /** Small data and short watches, to see that a measure works: the aims are of the usual sizes. */
  quick: boolean;
}

/** Options, a folder and a way to stop, for every measure. */
export interface Bench {
  options: BenchOptions;
  /** Holds everything that is written; removed in the end. */
  folder: string;
  /** Logs and progress, on standard error. */
  terminal: Terminal;
  /** Aborted when the user stops the bench. */
  signal: AbortSignal;
}

/** A row of the bench's table. */
export interface Measure {
  measure: string;
  /** With its unit, where it has one. */
  reached: string;
  aim: string;
  /** Each round by itself. */
  rounds: string;
}

/**
 * Fixed, so that the same options measure the same bytes; close to midnight, so that all days count the same clicks.
 */
export const historyEnd = '2026-01-31T23:55:00Z';
export const arrivalEnd = '2026-01-31T23:59:00Z';

export interface GeneratedLogs {
  data: DataDirectory;
  clicks: number;
}

/**
 * Fills a folder of this name with NDJSON without mess, which a bare COPY can read as well, or with `messy` logs: in all
 * formats, with duplicates and rows to be rejected. Any seed has one network.
 */
export async function generateLogs(
  { options, folder, terminal, signal }: Bench,
  name: string,
  {
    end,
    seed = options.seed,
    messy = false,
    ...size
  }: { clicks: number; days: number; end: string; seed?: number; offers?: number; sites?: number; messy?: boolean },
): Promise<GeneratedLogs> {
  const data = new DataDirectory(join(folder, name));
  terminal.progress.start(`generating ${size.clicks} clicks on ${size.days} days`, size.clicks);
  try {
    const summary = await generate(
      {
        out: data.root,
        ...size,
        seed,
        networkSeed: options.seed,
        end: new Date(end),
        messy,
        formats: messy ? 'mixed' : 'ndjson',
      },
      (done) => {
        signal.throwIfAborted();
        terminal.progress.advance(done);
      },
    );
    await changeSites(data, { postback: undefined });
    return { data, clicks: summary.clicks.accepted };
  } finally {
    terminal.progress.finish();
  }
}

/** Gives all sites of a network these settings. Without addresses for postbacks a refresh sends nothing. */
export async function changeSites({ sitesFile }: DataDirectory, settings: object): Promise<void> {
  const { sites } = JSON.parse(await readFile(sitesFile, 'utf8')) as { sites: object[] };
  await writeFile(sitesFile, JSON.stringify({ sites: sites.map((site) => ({ ...site, ...settings })) }));
}

/** Removes all that runs have written. The landing folder stays: the pipeline changes nothing there. */
export async function forgetRuns(data: DataDirectory): Promise<void> {
  for (const path of [data.warehouse, data.published]) await rm(path, { recursive: true, force: true });
}
