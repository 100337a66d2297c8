import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, it } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { packageVersion } from '../../src/kit/files/package-files.ts';
import { manifestText, type Manifest } from '../../src/pipeline/snapshot/manifest.ts';
import { siteConversions } from '../../src/pipeline/records/site-conversions.ts';
import { readRoutes } from '../../src/pipeline/routes/routes-file.ts';
import { SnapshotClicks } from '../../src/pipeline/clicks/snapshot-clicks.ts';
import { SnapshotConnections } from '../../src/pipeline/clicks/snapshot-connections.ts';
import { readAnalytics } from '../../src/pipeline/snapshot/read-analytics.ts';
import { openClickKeys } from '../../src/pipeline/routes/click-keys.ts';
import { readUsers } from '../../src/console/access/users.ts';
import { command, endOf } from '../support/commands.ts';
import { slow } from '../support/slow.ts';

const kept = readdirSync(join(import.meta.dirname, 'kept')).map((file) => basename(file, '.tar.gz'));
const folder = mkdtempSync(join(tmpdir(), 'offerline-upgrade-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The data directory that a version made, unpacked under a name. */
function directoryOf(version: string, name: string): DataDirectory {
  const data = new DataDirectory(join(folder, `${version}-${name}`));
  mkdirSync(data.root);
  execFileSync('tar', ['-xzf', join(import.meta.dirname, 'kept', `${version}.tar.gz`), '-C', data.root]);
  return data;
}

function manifestOf(data: DataDirectory): Manifest {
  const { manifest_sha256: _seal, ...manifest } = JSON.parse(
    readFileSync(join(data.current, 'manifest.json'), 'utf8'),
  ) as Manifest & { manifest_sha256: string };
  return manifest;
}

it('the version before each release has left a directory', () => {
  expect(kept).toContain('0.2.0');
  expect(kept.every((version) => /^\d+\.\d+\.\d+$/.test(version))).toBe(true);
});

describe.each(kept)('the data directory of %s', (version) => {
  it('goes on with the first run: nothing is lost, doubled or sent anew', slow, async () => {
    const data = directoryOf(version, 'upgraded');
    const before = manifestOf(data);
    const deliveries = () => {
      using database = new DatabaseSync(data.deliveriesFile, { readOnly: true });
      return database.prepare('SELECT webhook_id FROM postbacks ORDER BY webhook_id').all();
    };
    const sent = deliveries();
    const users = readUsers(data.consoleUsersFile);
    const [converted] = await readAnalytics(data.current, (query) =>
      query<{ click_id: string; site_key: string }>(
        `SELECT click_id, site_key FROM conversions WHERE site_key IS NOT NULL LIMIT 1`,
      ),
    );
    // Served until the first run.
    const connections = new SnapshotConnections(await realpath(data.current));
    const found = await new SnapshotClicks(connections).find(converted?.click_id ?? '', converted?.site_key ?? '');
    expect(found?.conversions[0]).toMatchObject({ reason: null });
    const owner = { siteKey: converted?.site_key ?? '', commission: '0', rewardRate: '1' };
    const [own] = await siteConversions(connections, owner, { changedSince: 0 }, { after: '', limit: 1 });
    expect(own).toMatchObject({ reason: null, changed_at: expect.any(String) as string });
    await connections.retire();
    expect(sent.length).toBeGreaterThan(0);
    // By stages, since a refresh would ask publishers. The tracker's click landed after the last run.
    const asOf = new Date().toISOString();
    for (const stage of ['ingest', 'models', 'publish']) await command(data.root, 'run', stage, '--as-of', asOf);
    const after = manifestOf(data);
    const { clicks, conversions, offers } = before.row_counts;
    expect(after.row_counts).toMatchObject({ clicks: Number(clicks) + 1, conversions, offers });
    expect(after.run_id).toBe(before.run_id + 3);
    expect(deliveries()).toEqual(sent);
    // Days of before have the columns of now.
    const [rows] = await readAnalytics(data.current, (query) =>
      query(
        `SELECT count(changed_at) AS dated, count(*) AS conversions, min(changed_at) < '${before.created_at}' AS as_ingested,
           count(conversions.country) > 0 AND count(conversions.source) > 0 AS placed,
           count(*) FILTER (conversions.country IS DISTINCT FROM clicks.country OR conversions.device IS DISTINCT FROM clicks.device) AS misplaced
         FROM conversions LEFT JOIN clicks USING (click_id)`,
      ),
    );
    expect(rows).toEqual({ dated: conversions, conversions, as_ingested: true, placed: true, misplaced: 0 });
    expect((await readRoutes(data.currentRoutes)).head.snapshot_id).toBe(after.snapshot_id);
    expect(await openClickKeys(data)).toHaveLength(1);
    expect(users).toHaveLength(1);
    const pulled = JSON.parse(await command(data.root, 'sources', 'list', '--json')) as object[];
    expect(JSON.stringify(pulled)).toContain('"last_pull":"done"');
  });

  it('is upgraded by a run: doctor and previews say that it is older, and it stays as it is', slow, async () => {
    const data = directoryOf(version, 'looked-at');
    const before = readFileSync(data.stateFile);
    const files = readdirSync(data.warehouse, { recursive: true }).filter((name) => String(name).includes('before-'));
    const { stdout } = await endOf(data.root, 'doctor');
    expect(stdout).toMatch(/note {5}state: .* is of an older version, and nothing in it was looked at/);
    for (const preview of [
      ['run', 'refresh', '--dry-run'],
      ['backfill', 'reports', '--dry-run'],
    ])
      expect(await endOf(data.root, ...preview)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is of an older version of offerline, ') as string,
      });
    expect(readFileSync(data.stateFile).equals(before)).toBe(true);
    expect(readdirSync(data.warehouse, { recursive: true }).filter((name) => String(name).includes('before-'))).toEqual(
      files,
    );
    // A backup is of this version, whichever made the state, and says so.
    const backup = await endOf(data.root, 'backup', `${data.root}.tar`);
    expect(backup).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('is upgraded; the copy of before') as string,
    });
  });

  it.each<[what: string, spoil: (data: DataDirectory) => Promise<string> | string]>([
    ['the state', newerState],
    ['the store of deliveries', ({ deliveriesFile }) => newerSqlite(deliveriesFile)],
    ['the published snapshot', newerSnapshot],
  ])('is refused by name where %s is of a newer version, and stays as it is', async (what, spoil) => {
    const data = directoryOf(version, what.replaceAll(' ', '-'));
    const file = await spoil(data);
    const before = readFileSync(file);
    const { code, stderr } = await endOf(data.root, 'run', 'refresh');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(refusal) as string });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('is refused by name where the ledger of pulls or the routes are of a newer version', async () => {
    const data = directoryOf(version, 'pulls-and-routes');
    newerSqlite(data.pullLedgerFile);
    expect(await endOf(data.root, 'sources', 'pull')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(refusal) as string,
    });
    const routes = join(data.routes, readlinkSync(data.currentRoutes));
    writeFileSync(routes, readFileSync(routes, 'utf8').replace('"format":1', '"format":999'));
    await expect(readRoutes(data.currentRoutes)).rejects.toThrow(refusal);
  });
});

const refusal = new RegExp(
  `was written by a newer version of offerline: it has schema 999\\w*, and offerline ${packageVersion().replaceAll('.', '\\.')} knows `,
);

async function newerState({ stateFile }: DataDirectory): Promise<string> {
  const instance = await DuckDBInstance.create(stateFile);
  const connection = await instance.connect();
  await connection.run("INSERT INTO kysely_migration SELECT '999_newer', timestamp FROM kysely_migration LIMIT 1");
  await connection.run('CHECKPOINT');
  connection.closeSync();
  instance.closeSync();
  return stateFile;
}

function newerSqlite(file: string): string {
  using database = new DatabaseSync(file);
  database.exec('PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)');
  return file;
}

function newerSnapshot(data: DataDirectory): string {
  const manifest = Object.assign(manifestOf(data), { schema_version: 999 });
  const file = join(data.current, 'manifest.json');
  writeFileSync(file, manifestText(manifest));
  return file;
}
