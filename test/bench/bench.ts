import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { generate } from '../../src/demo/generate/generate.ts';
import type { Terminal } from '../../src/kit/logging/progress.ts';
import type { BenchOptions } from './options.ts';

/** What every measure works with. */
export interface Bench {
  options: BenchOptions;
  /** For everything that is written; removed in the end. */
  folder: string;
  /** On standard error. */
  terminal: Terminal;
  /** Aborted when the user stops the bench. */
  signal: AbortSignal;
}

/**
 * Fixed, so that the same options measure the same bytes. Close to midnight, so that all days count the same clicks.
 */
export const historyEnd = '2026-01-31T23:55:00Z';
export const arrivalEnd = '2026-01-31T23:59:00Z';

export interface GeneratedLogs {
  data: DataDirectory;
  clicks: number;
}

/**
 * Fills a folder of this name. NDJSON without mess: what the bare COPY can read as well; `messy`: in all formats, with
 * duplicates and rows to be rejected. Traffic of any seed is of the same network.
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
    await tellNobody(data);
    return { data, clicks: summary.clicks.accepted };
  } finally {
    terminal.progress.finish();
  }
}

/** Delivering has a measure of its own; nobody is there to answer, and what fails would be weighed with the refresh. */
async function tellNobody({ sitesFile }: DataDirectory): Promise<void> {
  const { sites } = JSON.parse(await readFile(sitesFile, 'utf8')) as { sites: object[] };
  await writeFile(sitesFile, JSON.stringify({ sites: sites.map((site) => ({ ...site, postback: undefined })) }));
}

/** As if nothing had ever been run on it. The landing folder stays: the pipeline changes nothing there. */
export async function forgetRuns(data: DataDirectory): Promise<void> {
  for (const path of [data.warehouse, data.published]) await rm(path, { recursive: true, force: true });
}
