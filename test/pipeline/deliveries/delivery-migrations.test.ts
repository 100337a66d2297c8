import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  DamagedDeliveriesError,
  DeliveryDatabase,
  deliveryMigrations,
} from '../../../src/postbacks/store/delivery-database.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { nodeArguments } from '../../support/command-line.ts';
import { outboxRow } from '../../support/deliveries.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

const newest = readdirSync(deliveryMigrations).length;
/** The file name of a migration so many after those of the repository. */
const following = (steps: number, name: string) => `${String(newest + steps).padStart(3, '0')}_${name}.sql`;

/** A file for a store, and a folder with the repository's migrations and these beside them. */
async function storeAndMigrations(...added: [name: string, text: string][]): Promise<{ file: string; folder: string }> {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await mkdir(data.postbacks);
  const folder = join(data.root, 'migrations');
  await cp(deliveryMigrations, folder, { recursive: true });
  for (const [name, text] of added) await writeFile(join(folder, name), text);
  return { file: data.deliveriesFile, folder };
}

/** Runs `work` on the store with that folder's migrations; by default all of the repository's. */
async function inStore<T>(
  file: string,
  folder: string,
  work: (database: DeliveryDatabase) => T | Promise<T>,
): Promise<T> {
  const database = new DeliveryDatabase(file, folder);
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

const addRows = (file: string) =>
  inStore(file, deliveryMigrations, async (database) => {
    const store = new SqliteStore(database);
    await store.importOutbox('first', [outboxRow(1), outboxRow(2)]);
    return store.storeId;
  });
const versionIn = (database: DeliveryDatabase) => database.prepare('PRAGMA user_version').get();
const schemaIn = (database: DeliveryDatabase) =>
  database.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();

it('both delivery stores have the same migrations', () => {
  const ofPostgres = readdirSync(new URL('../../../sql/delivery-postgres', import.meta.url));
  expect(ofPostgres).toEqual(readdirSync(deliveryMigrations));
});

it('a new migration is applied to old rows, and once', async () => {
  const { file, folder } = await storeAndMigrations([
    following(1, 'added_here'),
    `ALTER TABLE postbacks ADD COLUMN added_here TEXT NOT NULL DEFAULT 'old'; CREATE TABLE more (id INTEGER) STRICT;`,
  ]);
  const storeId = await addRows(file);
  for (const _ of [1, 2]) {
    await inStore(file, folder, (database) => {
      expect(database.prepare('SELECT webhook_id, added_here FROM postbacks').all()).toEqual([
        { webhook_id: 'w1', added_here: 'old' },
        { webhook_id: 'w2', added_here: 'old' },
      ]);
      expect(new SqliteStore(database).storeId).toBe(storeId);
      expect(versionIn(database)).toEqual({ user_version: newest + 1 });
    });
  }
});

it('a migration that fails is rolled back whole and named; those before it stay', async () => {
  const broken = 'CREATE TABLE half (id INTEGER) STRICT; DELETE FROM postbacks; INSERT INTO nowhere VALUES (1);';
  const { file, folder } = await storeAndMigrations(
    [following(1, 'more'), 'CREATE TABLE more (id INTEGER) STRICT;'],
    [following(2, 'broken'), broken],
  );
  await addRows(file);
  expect(() => new DeliveryDatabase(file, folder)).toThrow(
    new RegExp(
      `deliveries\\.sqlite cannot be migrated: ${following(2, 'broken')} failed and changed nothing: no such table: .*nowhere`,
    ),
  );
  await writeFile(join(folder, following(2, 'broken')), 'CREATE TABLE third (id INTEGER) STRICT;');
  await inStore(file, folder, (database) => {
    expect(schemaIn(database).map(({ name }) => name)).toEqual(expect.arrayContaining(['more', 'third']));
    expect(schemaIn(database).map(({ name }) => name)).not.toContain('half');
    expect(database.prepare('SELECT count(*) AS rows FROM postbacks').get()).toEqual({ rows: 2 });
  });
});

it('a store of a newer version is refused and not touched', async () => {
  const { file, folder } = await storeAndMigrations([following(1, 'more'), 'CREATE TABLE more (id INTEGER) STRICT;']);
  const schema = await inStore(file, folder, schemaIn);
  expect(() => new DeliveryDatabase(file)).toThrow(
    `${file} was written by a newer version of offerline: it has schema ${newest + 1}, and`,
  );
  expect(await inStore(file, folder, schemaIn)).toEqual(schema);
});

it.each([true, false])('a disk that fails is reported as that, where the store is new (%s) as well', async (isNew) => {
  const { file } = await storeAndMigrations();
  if (!isNew) await addRows(file);
  const program = `
    const { DeliveryDatabase } = await import(${JSON.stringify(new URL('../../../src/postbacks/store/delivery-database.ts', import.meta.url).href)});
    try {
      new DeliveryDatabase(${JSON.stringify(file)});
    } catch (error) {
      process.stdout.write(error.message);
    }`;
  const words = [process.execPath, ...nodeArguments, '--input-type=module', '-e', program];
  // No file may grow: each write fails.
  const output = execFileSync('sh', ['-c', 'ulimit -f 0 && exec "$@"', 'sh', ...words], { encoding: 'utf8' });
  expect(output).toMatch(/^The disk failed to read or write: .*Original error: disk I\/O error$/);
});

it('damage that a migration meets is reported as damage, so that the next refresh makes a new store', async () => {
  const { file, folder } = await storeAndMigrations([
    following(1, 'more'),
    'CREATE TABLE more AS SELECT * FROM postbacks;',
  ]);
  await addRows(file);
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0xff, 4096));
  expect(() => new DeliveryDatabase(file, folder)).toThrow(DamagedDeliveriesError);
});

it.each([[['later.sql', 'SELECT 1']], [['001_again.sql', 'SELECT 1']]] as [name: string, text: string][][])(
  'a migration %j without a place of its own in the order is refused',
  async (added) => {
    const { file, folder } = await storeAndMigrations(added);
    expect(() => new DeliveryDatabase(file, folder)).toThrow(/later\.sql is not named like|has the number of/);
  },
);
