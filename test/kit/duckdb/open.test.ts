import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { insertRows } from '../../../src/kit/duckdb/insert-rows.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, openDuckDB, readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offerline-open-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'some.duckdb');
}

it('keeps to UTC on every connection and fetches no extension', async () => {
  const database = await openDuckDB(inMemory);
  onTestFinished(() => database.close());
  const settings = `SELECT current_setting('TimeZone') AS zone, current_setting('autoinstall_known_extensions') AS installs,
    current_setting('autoload_known_extensions') AS loads`;
  for (const connection of [database.connection, await database.connect()])
    expect(await queryRows(connection, settings)).toEqual([{ zone: 'UTC', installs: false, loads: false }]);
});

it('closes what it opened, also where the work fails, so that the file can be written again', async () => {
  const path = file();
  await withDuckDB(path, {}, async (connection) => void (await connection.run('CREATE TABLE one AS SELECT 1 AS a')));
  const failing = withDuckDB(path, readOnly, async (connection) => {
    expect(await queryRows(connection, 'FROM one')).toEqual([{ a: 1 }]);
    await connection.run('DROP TABLE one');
  });
  await expect(failing).rejects.toThrow(/read-only/);
  await withDuckDB(path, {}, async (connection) => void (await connection.run('DROP TABLE one')));
});

it('may be closed twice, and gives nothing to ask after that', async () => {
  const database = await openDuckDB(file());
  database.close();
  database.close();
  await expect(database.connect()).rejects.toThrow('closed');
});

it('gives every text as it is, also one that begins like a file of UTF-8', async () => {
  const database = await openDuckDB(inMemory);
  onTestFinished(() => database.close());
  const { connection } = database;
  const texts = ['\ufeffanna', `\ufeff${'long '.repeat(9)}`, '\ufeff', '\ufeff\ufeff', 'a\ufeff', '\ufffe'];
  await connection.run('CREATE TABLE texts (t VARCHAR)');
  await insertRows(
    connection,
    'texts',
    { t: 'VARCHAR' },
    texts.map((t) => ({ t })),
  );
  const shapes = await queryRows(
    connection,
    `SELECT t, [t] AS list, {'t': t} AS struct, MAP {t: t} AS map, to_json([t]) AS json, t = $1 AS bound, strlen(t)::INTEGER AS bytes FROM texts`,
    [texts[0]],
  );
  expect(shapes).toEqual(
    texts.map((t) => ({
      t,
      list: [t],
      struct: { t },
      map: [{ key: t, value: t }],
      json: JSON.stringify([t]),
      bound: t === texts[0],
      bytes: Buffer.byteLength(t),
    })),
  );
  const streamed = await connection.stream('FROM texts');
  expect((await streamed.getRows()).flat()).toEqual(texts);
});
