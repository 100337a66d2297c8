import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defaultSettings, type Settings } from '../../src/kit/config/settings.ts';
import { syncCatalogs, type CatalogSyncResult } from '../../src/pipeline/ingest/catalog/catalog.ts';
import { LandingRecord, QuarantineError, type CheckedFile } from '../../src/pipeline/landing/landing-file.ts';
import { migrationFiles } from '../../src/kit/files/migration-files.ts';
import { migrationsFolder } from '../../src/pipeline/warehouse/migrations.ts';

/** A record of a catalog, or a line that is none. */
export type Row = Record<string, unknown> | string;

export interface LandedExport {
  source?: string;
  name: string;
  /** Seconds of the modification time. */
  modified: number;
  rows: Row[];
  unreadable?: boolean;
  format?: CheckedFile['format'];
}

/** An offer as catalogs have it, with the least that it needs. */
export function record(externalId: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { external_id: externalId, title: `Offer ${externalId}`, payout: '1', ...fields };
}

export function records(count: number, fields: Record<string, unknown> = {}): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, index) => record(`x${index}`, fields));
}

/** An empty migrated warehouse in memory, a landing folder that is a list, and runs of the catalog sync over both. */
export class CatalogWarehouse implements AsyncDisposable {
  readonly connection: DuckDBConnection;
  readonly #instance: DuckDBInstance;
  settings: Settings;
  wallClock = new Date('2026-06-01T00:00:00Z');
  /** By path, as the folder lies now. */
  readonly landed = new Map<string, CheckedFile>();
  #runId = 0;
  #fileId = 0;

  static async create(settings: Partial<Settings> = {}): Promise<CatalogWarehouse> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    for (const { path } of migrationFiles(migrationsFolder)) await connection.run(readFileSync(path, 'utf8'));
    return new CatalogWarehouse(instance, connection, { ...defaultSettings, ...settings });
  }

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, settings: Settings) {
    this.#instance = instance;
    this.connection = connection;
    this.settings = settings;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.connection.closeSync();
    this.#instance.closeSync();
    return Promise.resolve();
  }

  /** One run at `asOf` into which these exports landed. */
  async run(asOf: string, ...exports: LandedExport[]): Promise<CatalogSyncResult> {
    const contents = new Map(exports.map((landed) => [pathOf(landed), landed]));
    const files = exports.map(checkedFile);
    for (const file of files) this.landed.set(file.path, file);
    await this.connection.run('BEGIN');
    const result = await syncCatalogs(this.connection, {
      files,
      landed: [...this.landed.values()],
      readRecords: async function* ({ path }) {
        const landed = contents.get(path);
        if (!landed || landed.unreadable) throw new QuarantineError('broken_json', 'for the test');
        yield await Promise.resolve(
          landed.rows.map((row, index) => new LandingRecord(index + 1, Buffer.from(rawOf(row)))),
        );
      },
      settings: this.settings,
      runId: ++this.#runId,
      asOf,
      wallClock: this.wallClock,
      nextFileId: () => ++this.#fileId,
    });
    await this.connection.run('COMMIT');
    return result;
  }

  configure(settings: Partial<Settings>): void {
    this.settings = { ...this.settings, ...settings };
  }

  async query(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.connection.runAndReadAll(sql)).getRowObjectsJson();
  }

  /** `external_id status` of every offer's last version, by external id. */
  async catalog(source = 'net'): Promise<string[]> {
    const rows = await this.query(
      `SELECT external_id || ' ' || status AS offer FROM offers JOIN offer_versions USING (offer_id) WHERE source = '${source}'
       QUALIFY row_number() OVER (PARTITION BY offer_id ORDER BY version DESC) = 1 ORDER BY external_id`,
    );
    return rows.map(({ offer }) => String(offer));
  }

  versions(externalId: string): Promise<Record<string, unknown>[]> {
    return this.query(
      `SELECT offer_id, version, strftime(valid_from, '%dT%H:%M:%S.%f') AS valid_from, status, payout, strftime(created_at, '%d') AS created,
         strftime(updated_at, '%d') AS updated
       FROM offers JOIN offer_versions USING (offer_id) WHERE external_id = '${externalId}' ORDER BY version`,
    );
  }

  /** `name status rows=accepted+duplicates+rejected` of every file, in the order of the ledger. */
  async ledger(): Promise<string[]> {
    const rows = await this.query(
      `SELECT parse_filename(path) || ' ' || status || ' ' || rows || '=' || accepted || '+' || duplicates || '+' || rejected AS entry
       FROM ingest_files ORDER BY file_id`,
    );
    return rows.map(({ entry }) => String(entry));
  }
}

function pathOf({ source = 'net', name }: LandedExport): string {
  return `offers/${source}/${name}`;
}

function rawOf(row: Row): string {
  return typeof row === 'string' ? row : JSON.stringify(row);
}

function checkedFile(landed: LandedExport): CheckedFile {
  const content = landed.rows.map(rawOf).join('\n');
  const modifiedNs = BigInt(landed.modified) * 1_000_000_000n;
  const path = pathOf(landed);
  return {
    kind: 'offers',
    source: landed.source ?? 'net',
    path,
    absolutePath: `/landing/${path}`,
    readablePath: `/landing/${path}`,
    format: landed.format ?? 'ndjson',
    bytes: content.length,
    modifiedNs,
    changedNs: modifiedNs,
    sha256: createHash('sha256').update(content).digest('hex'),
    firstRow: 1,
    columns: null,
    nullTexts: new Map(),
    unterminatedRow: null,
    longLines: [],
  };
}
