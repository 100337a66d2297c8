import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { OfferlineError, WarehouseBusyError } from '../../../src/kit/errors/errors.ts';
import { DamagedStateError, openStateDatabase } from '../../../src/pipeline/warehouse/database.ts';
import type { StateDatabase } from '../../../src/pipeline/warehouse/database.ts';
import { duckdbOptions } from '../../../src/kit/duckdb/duckdb-options.ts';
import { migrationsFolder } from '../../../src/pipeline/warehouse/migrations.ts';
import { isInterruption, untilInterrupted } from '../../../src/kit/duckdb/interruption.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';

let folder: string;
let data: DataDirectory;
let opened: StateDatabase[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offerline-'));
  data = new DataDirectory(join(folder, 'data'));
  opened = [];
});

afterEach(async () => {
  for (const state of opened) await state.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(migrations?: string): Promise<StateDatabase> {
  const state = await openStateDatabase(data, defaultSettings, migrations);
  opened.push(state);
  return state;
}

async function folderOfMigrations(...added: [name: string, text: string][]): Promise<string> {
  const copy = join(folder, 'migrations');
  await cp(migrationsFolder, copy, { recursive: true });
  for (const [name, text] of added) await writeFile(join(copy, name), text);
  return copy;
}

const fact = { fact: 'colour', value: 'blue' };

const literal = (text: string | null | undefined) => (typeof text !== 'string' ? 'NULL' : `'${text}'`);

it('interrupts what runs on any of its connections', async () => {
  const state = await open();
  const second = await state.connect();
  const endless =
    'SELECT count(*) FROM range(10_000_000_000) AS a, range(1_000_000) AS b WHERE a.range % 7 = b.range % 11';
  const ended = await untilInterrupted(
    state,
    AbortSignal.abort(),
    () => Promise.allSettled([state.connection.run(endless), second.run(endless)]),
    0,
  );
  expect(ended.map((each) => each.status === 'rejected' && isInterruption(each.reason))).toEqual([true, true]);
});

describe('openStateDatabase', () => {
  it('makes a migrated database in UTC and keeps what was committed', async () => {
    const first = await open();
    await first.transaction(async () => void (await first.db.insertInto('warehouse_facts').values(fact).execute()));
    await first.close();
    expect(existsSync(`${data.stateFile}.wal`)).toBe(false);
    const second = await open();
    expect(await second.db.selectFrom('warehouse_facts').selectAll().execute()).toEqual([fact]);
    expect(
      await queryRows(
        second.connection,
        "SELECT current_setting('TimeZone') AS zone, current_setting('temp_directory') AS spill",
      ),
    ).toEqual([{ zone: 'UTC', spill: data.spill }]);
  });

  it('spills beside the scratch folder, which a stage may empty, and sweeps what a killed process left', async () => {
    await mkdir(data.spill, { recursive: true });
    await writeFile(join(data.spill, 'left-over.tmp'), 'x');
    const state = await openStateDatabase(data, { duckdb: { memory_limit: '20MB', threads: 1 } });
    opened.push(state);
    expect(existsSync(join(data.spill, 'left-over.tmp'))).toBe(false);
    await state.connection.run('CREATE TEMP TABLE large AS SELECT uuid()::VARCHAR AS word FROM range(1_000_000)');
    expect(await readdir(data.spill)).not.toEqual([]);
    await rm(data.scratch, { recursive: true });
    expect(await queryRows(state.connection, 'SELECT count(DISTINCT word)::INTEGER AS words FROM large')).toEqual([
      { words: 1_000_000 },
    ]);
  });

  it('starts without a log: what a killed process had committed is in the file after opening', async () => {
    const program = `
      const { openStateDatabase } = await import(${JSON.stringify(new URL('../../../src/pipeline/warehouse/database.ts', import.meta.url).href)});
      const { DataDirectory } = await import(${JSON.stringify(new URL('../../../src/kit/config/data-directory.ts', import.meta.url).href)});
      const state = await openStateDatabase(new DataDirectory(${JSON.stringify(data.root)}), { duckdb: {} });
      await state.connection.run("INSERT INTO warehouse_facts VALUES ('colour', 'blue')");
      process.kill(process.pid, 'SIGKILL');`;
    expect(() => execFileSync(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })).toThrow();
    expect(existsSync(`${data.stateFile}.wal`)).toBe(true);
    const state = await open();
    expect(existsSync(`${data.stateFile}.wal`)).toBe(false);
    expect(await state.db.selectFrom('warehouse_facts').selectAll().where('fact', '=', 'colour').execute()).toEqual([
      fact,
    ]);
  });

  it('applies a new migration to old data', async () => {
    const old = await open();
    await old.db.insertInto('warehouse_facts').values(fact).execute();
    await old.close();
    const state = await open(
      await folderOfMigrations([
        '999_more.sql',
        'ALTER TABLE warehouse_facts ADD COLUMN note VARCHAR; CREATE TABLE more (id INTEGER);',
      ]),
    );
    expect(await queryRows(state.connection, 'FROM warehouse_facts')).toEqual([{ ...fact, note: null }]);
    expect(await queryRows(state.connection, 'SELECT count(*) AS rows FROM more')).toEqual([{ rows: 0 }]);
    // The older version opens the copy.
    expect(state.copyBeforeUpgrade).toBe(join(data.stateCopies, 'before-999_more.duckdb'));
    await state.close();
    await cp(join(data.stateCopies, 'before-999_more.duckdb'), data.stateFile);
    const again = await open();
    expect(await again.db.selectFrom('warehouse_facts').selectAll().execute()).toEqual([fact]);
    expect(again.copyBeforeUpgrade).toBeUndefined();
  });

  it('takes addresses with a password out of the versions that an upgrade finds', async () => {
    const migrations = await folderOfMigrations();
    for (const name of await readdir(migrations))
      if (name >= '013_private_addresses.sql') await rm(join(migrations, name));
    const old = await open(migrations);
    const addresses = [
      ['https://cdn.example/@7.png?a=b@c', 'market://details?id=a@b'],
      ['HTTPS://user:pw@cdn.example/7.png', 'itms-apps://user@apps.example/7'],
      ['', null],
    ];
    const row = (of: string) => `INSERT INTO offer_versions BY NAME
      SELECT 7 AS offer_id, ${of}, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS valid_from, 1 AS run_id, 'active' AS status, '{}' AS titles,
        '{}' AS descriptions, 1 AS payout, 'name' AS image_name, '' AS level, 0 AS stars, ['a'] AS categories, [] AS countries, [] AS devices,
        'net30' AS payment_term, 'CPA' AS tracking_type, 'web' AS report_category, [] AS formats, false AS multi_complete, '[]' AS events,
        valid_from AS created_at, valid_from AS updated_at, '' AS content_sha256, '' AS published_sha256`;
    for (const [place, [image, preview]] of addresses.entries())
      await old.connection.run(
        row(`${place} AS version, ${literal(image)} AS image_source, ${literal(preview)} AS preview_url`),
      );
    await old.close();
    const { connection } = await open();
    expect(
      await queryRows(connection, 'SELECT image_name, image_source, preview_url FROM offer_versions ORDER BY version'),
    ).toEqual([
      { image_name: 'name', image_source: addresses[0]?.[0], preview_url: addresses[0]?.[1] },
      { image_name: '', image_source: '', preview_url: null },
      { image_name: 'name', image_source: '', preview_url: null },
    ]);
  });

  it('keeps the copy of the last upgrade alone, and none of a state that is new', async () => {
    await (await open()).close();
    expect(existsSync(data.stateCopies)).toBe(false);
    const migrations = await folderOfMigrations(['998_more.sql', 'CREATE TABLE more (id INTEGER);']);
    await (await open(migrations)).close();
    await writeFile(join(migrations, '999_much.sql'), 'CREATE TABLE much (id INTEGER);');
    await (await open(migrations)).close();
    expect(await readdir(data.stateCopies)).toEqual(['before-999_much.duckdb']);
  });

  it('rolls a failed migration back whole, names it and lets go of the file', async () => {
    await (await open()).close();
    const migrations = await folderOfMigrations([
      '999_broken.sql',
      'CREATE TABLE more (id INTEGER); INSERT INTO nowhere VALUES (1);',
    ]);
    const failure = await open(migrations).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OfferlineError);
    expect((failure as Error).message).toContain('999_broken');
    const state = await open();
    expect((await state.db.introspection.getTables()).map(({ name }) => name)).not.toContain('more');
  });

  it('refuses a database of a newer version', async () => {
    await (await open(await folderOfMigrations(['999_newer.sql', 'CREATE TABLE newer (id INTEGER);']))).close();
    await expect(open()).rejects.toThrow(/newer version of offerline: it has schema 999_newer/);
  });

  it('refuses a migration without a place in the order', async () => {
    await expect(open(await folderOfMigrations(['late.sql', 'SELECT 1']))).rejects.toThrow(
      /late\.sql is not named like/,
    );
  });

  it('refuses a second opening in the same process, which would drop the lock of the first', async () => {
    await open();
    await expect(openStateDatabase(data, defaultSettings)).rejects.toThrow(/open in this process already/);
  });

  it('says so when another program has the file open', async () => {
    await (await open()).close();
    const duckdb = import.meta.resolve('@duckdb/node-api');
    const program = `
      const { default: { DuckDBInstance } } = await import(${JSON.stringify(duckdb)});
      await DuckDBInstance.create(${JSON.stringify(data.stateFile)});
      console.log('open');
      setInterval(() => undefined, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(holder, 'exit');
    try {
      await once(holder.stdout, 'data');
      await expect(open()).rejects.toThrow(WarehouseBusyError);
    } finally {
      holder.kill('SIGKILL');
      await ended;
    }
    await open();
  });

  it('distinguishes a damaged file from other trouble, and may be tried again', async () => {
    await (await open()).close();
    await writeFile(data.stateFile, 'not a database');
    await expect(open()).rejects.toThrow(DamagedStateError);
    await expect(open()).rejects.toThrow(/state\.duckdb is damaged/);
  });
});

describe('a transaction', () => {
  it('spans Kysely and raw SQL, and rolls both back', async () => {
    const state = await open();
    const failing = state.transaction(async () => {
      await state.db.insertInto('warehouse_facts').values(fact).execute();
      await state.connection.run("INSERT INTO warehouse_facts VALUES ('shape', 'round')");
      await sql`UPDATE warehouse_facts SET value = 'red'`.execute(state.db);
      throw new Error('stopped');
    });
    await expect(failing).rejects.toThrow('stopped');
    expect(await state.db.selectFrom('warehouse_facts').selectAll().execute()).toEqual([]);
  });

  it('gives back what the work gave', async () => {
    const state = await open();
    expect(await state.transaction(async () => 42)).toBe(42);
  });
});

describe('duckdbOptions', () => {
  const machine = { memory: 6 * 2 ** 30, processors: 3 };

  it('takes half of the memory and every processor by default', () => {
    expect(duckdbOptions(data, defaultSettings, machine)).toMatchObject({
      memory_limit: '3072MiB',
      threads: '3',
      temp_directory: data.spill,
    });
  });

  it('takes what is configured', () => {
    const duckdb = { memory_limit: '1GB', threads: 2 };
    expect(duckdbOptions(data, { duckdb }, machine)).toMatchObject({ memory_limit: '1GB', threads: '2' });
  });
});
