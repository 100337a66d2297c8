import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isInterruption, untilInterrupted } from '../../../src/kit/duckdb/interruption.ts';
import { checkFiles } from '../../../src/pipeline/landing/files/check-files.ts';
import { findLandingFiles } from '../../../src/pipeline/landing/files/find-files.ts';
import { QuarantineError, type CheckedFile } from '../../../src/pipeline/landing/landing-file.ts';
import { fileLines } from '../../../src/pipeline/landing/lines/file-lines.ts';
import { it } from '../../support/landing-test.ts';
import type { LogLanding } from '../../support/log-landing.ts';
import { parquet } from '../../support/parquet.ts';

/* A file that the machine could not read is a file that nothing is wrong with. */

/** Reads a Parquet file of so many clicks; what it is read into is `table.ndjson` of the data directory. */
async function readClicks(landing: LogLanding, rows: number): Promise<() => Promise<CheckedFile>> {
  const { data, state } = landing;
  await landing.put('clicks/a.parquet', await parquet(`SELECT 'c' || range AS click_id FROM range(${rows})`));
  const { files } = await findLandingFiles(data.landing);
  const { readable } = await checkFiles(files, data.root);
  const known = { required: ['click_id'], fields: [{ name: 'click_id' }] };
  const reading = { scratchPath: join(data.root, 'table'), maxUnpackedBytes: 1e9, mapping: undefined };
  return () => fileLines(state.connection, readable[0] as CheckedFile, known, reading);
}

it('a full disk is no fault of a Parquet file that is read then', async ({ landing }) => {
  const read = await readClicks(landing, 100_000);
  for (const name of ['table.ndjson', 'tmp_table.ndjson']) await symlink('/dev/full', join(landing.data.root, name));
  const error: unknown = await read().catch((caught: unknown) => caught);
  expect(error).not.toBeInstanceOf(QuarantineError);
  expect(String(error)).toContain('No space left on device');
});

it('nor is the end of a run that is asked to end meanwhile', async ({ landing }) => {
  const read = await readClicks(landing, 1_000_000);
  const reading = untilInterrupted(landing.state.connection, AbortSignal.abort(), read, 0);
  const error: unknown = await reading.catch((caught: unknown) => caught);
  expect(error).not.toBeInstanceOf(QuarantineError);
  expect(isInterruption(error)).toBe(true);
});
