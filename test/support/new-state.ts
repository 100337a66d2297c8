import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { makePrivateFolder } from '../../src/kit/files/effects.ts';
import { openStateDatabase } from '../../src/pipeline/warehouse/database.ts';

/**
 * Migrating a new state takes longer than most tests then work with it, so a process of tests does it once and begins
 * each data directory with a copy.
 */
let migrated: Promise<Buffer> | undefined;

/** Puts the state of a warehouse that nothing has been done with into a data directory. */
export async function putNewState(data: DataDirectory): Promise<void> {
  const state = await (migrated ??= migratedState());
  makePrivateFolder(data.warehouse);
  await writeFile(data.stateFile, state);
}

async function migratedState(): Promise<Buffer> {
  const data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-state-')));
  try {
    const state = await openStateDatabase(data, { duckdb: { threads: 1 } });
    await state.close();
    return await readFile(data.stateFile);
  } finally {
    await rm(data.root, { recursive: true });
  }
}
