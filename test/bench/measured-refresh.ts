import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { currentManifest } from '../../src/pipeline/snapshot/snapshot-store.ts';
import { measureProcess, type Measured } from './measured-process.ts';

export interface MeasuredRefresh extends Measured {
  /** Of the stage that reads what has landed, as the run logged it. */
  ingestSeconds: number;
  ingested: { files: number };
}

const commandLine = new URL('../../src/cli/main.ts', import.meta.url);

/**
 * `offerline run refresh` as a user runs it, process start and all. Throws where it did not publish that many clicks:
 * nothing else is worth timing.
 */
export async function measureRefresh(
  data: DataDirectory,
  asOf: string,
  expected: { clicks: number },
  signal: AbortSignal,
  program: URL = commandLine,
): Promise<MeasuredRefresh> {
  const measured = await measureProcess(program, ['run', 'refresh', '--json', '--as-of', asOf], {
    environment: { OFFERLINE_DATA: data.root },
    signal,
  });
  const { ingested } = JSON.parse(measured.output) as Pick<MeasuredRefresh, 'ingested'>;
  const clicks = (await currentManifest(data))?.row_counts['clicks'];
  if (clicks !== expected.clicks)
    throw new Error(`the refresh published ${clicks} clicks, ${expected.clicks} were generated`);
  const [, milliseconds] = /"ms":(\d+).*"msg":"done: ingest"/.exec(measured.logs) ?? [];
  return { ...measured, ingested, ingestSeconds: Number(milliseconds) / 1000 };
}
