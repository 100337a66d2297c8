import { LRUCache } from 'lru-cache';
import { Reader, type Response } from 'maxmind';
import { openRegularFile } from '../../kit/config/regular-file.ts';
import { ReadFailures, isTransient, versionToReadAgain } from '../../kit/files/read-failures.ts';
import { fileVersion } from '../../kit/files/file-version.ts';
import type { Logger } from '../../kit/logging/log.ts';

/** The two forms in which database files name a country. */
interface CountryRecord {
  country?: { iso_code?: unknown };
  country_code?: unknown;
}

/** Decoded records that are kept: many networks share one. */
const maxRecords = 10_000;

/** Databases have a few hundred megabytes at most. */
const maxBytes = 2 ** 30;

/**
 * Countries of addresses, by a file in MaxMind's format that the operator keeps. It is read again when it is replaced;
 * a broken one leaves the last good one. Without a file no country is known.
 */
export class Countries {
  readonly #file: string | undefined;
  readonly #log: Logger;
  #reader: Reader<Response> | undefined;
  readonly #failures = new ReadFailures();
  #version: string | undefined;

  constructor(file: string | undefined, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** The country as alpha-2 code, empty where it is not known. */
  countryOf(address: string): string {
    return this.#reader === undefined ? '' : lookUp(this.#reader, address);
  }

  /** Reads the file where it has changed. */
  async poll(): Promise<void> {
    if (this.#file === undefined) return;
    // A missing file is reported once.
    const version = (await fileVersion(this.#file)) ?? 'gone';
    if (version === this.#version) return;
    this.#version = version;
    try {
      this.#reader = new Reader(await bytesOf(this.#file), { cache: new LRUCache({ max: maxRecords }) });
      this.#failures.end();
      const { buildEpoch, databaseType } = this.#reader.metadata;
      this.#log.info({ type: databaseType, built: buildEpoch.toISOString() }, 'countries of addresses read');
    } catch (error) {
      if (isTransient(error)) this.#version = versionToReadAgain;
      if (!this.#failures.shouldReport(error)) return;
      const stays = this.#reader === undefined ? 'no country is known' : 'keeping those read before';
      this.#log.error({ file: this.#file, reason: (error as Error).message }, `countries cannot be read: ${stays}`);
    }
  }
}

async function bytesOf(path: string): Promise<Buffer> {
  const file = await openRegularFile(path, maxBytes);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function lookUp(reader: Reader<Response>, address: string): string {
  let record: CountryRecord | null;
  try {
    record = reader.get(address) as CountryRecord | null;
  } catch {
    // An address of the other family than the file has, or a file that is broken at this one.
    return '';
  }
  const code = record?.country?.iso_code ?? record?.country_code;
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : '';
}
