import { open, readdir } from 'node:fs/promises';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { findDatabaseDamage } from '../../../src/kit/duckdb/check-database.ts';
import { DamagedStateError, openStateDatabase } from '../../../src/pipeline/warehouse/database.ts';
import { copyState, stateCopies } from '../../../src/pipeline/warehouse/state-copies.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

let data: DataDirectory;

beforeEach(async () => {
  const temporary = await temporaryData();
  onTestFinished(temporary.remove);
  data = temporary.data;
  const state = await openStateDatabase(data, { duckdb: {} });
  await state.connection.run(`INSERT INTO warehouse_facts VALUES ('colour', 'blue')`);
  await state.close();
});

const copy = (runId: number) => copyState(data, runId, realEffects.files);

it('copies the state once for each run that published and keeps the newest three', async () => {
  for (const runId of [1, 2, 2, 11, 12]) await copy(runId);
  expect((await stateCopies(data)).map(({ runId }) => runId)).toEqual([12, 11, 2]);
  expect(await copy(12)).toBeUndefined();
  expect(await readdir(data.stateCopies)).toHaveLength(3);
  for (const { path } of await stateCopies(data)) expect(await findDatabaseDamage(path)).toBeUndefined();
});

it('makes no copy of a state that is damaged where nobody has looked', async () => {
  const file = await open(data.stateFile, 'r+');
  const { size } = await file.stat();
  // Every block but the three headers, whose damage the next opening would find; at its beginning, since most are empty
  // behind.
  for (let at = 3 * 4096 + 100; at < size; at += 262_144) await file.write(Buffer.alloc(64, 0xa5), 0, 64, at);
  await file.close();
  await expect(copy(1)).rejects.toThrow(DamagedStateError);
  expect(await readdir(data.stateCopies)).toEqual([]);
});
