import type { DuckDBConnection } from '@duckdb/node-api';
import { inMemory, withDuckDB } from '../../kit/duckdb/open.ts';
import { wordPairs } from '../../kit/duckdb/word-pairs.ts';
import { BloomFilter } from './click-bloom-filter.ts';
import type { HashedKey } from './click-bloom-filter.ts';
import type { ClickFile } from './click-files.ts';
import { keyCountQuery, keysQuery } from './click-queries.ts';

/** Room for forty million clicks. */
const maxFilterBytes = 64 * 1024 * 1024;

/**
 * Remembers of Parquet files which clicks they certainly lack. A file that it has not read, for want of time or room,
 * may have any click: whoever asks loses time by that and never a click.
 */
export class ClickFileIndex {
  /** By the digest of the file's content. */
  readonly #filters = new Map<string, BloomFilter>();
  readonly #maxBytes: number;

  constructor(maxBytes: number = maxFilterBytes) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return [...this.#filters.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Those of the files that may have a click. */
  filesThatMayHave(files: readonly ClickFile[], key: HashedKey): ClickFile[] {
    return files.filter(({ sha256 }) => this.#filters.get(sha256)?.mayHave(key) ?? true);
  }

  /**
   * Reads the keys of those files that are not known yet, first ones first, as far as there is room, and forgets all
   * other files. Between two turns of the event loop it learns some thousand keys. Ends early when aborted.
   */
  async learn(files: readonly ClickFile[], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const wanted = new Set(files.map(({ sha256 }) => sha256));
    for (const sha256 of this.#filters.keys()) if (!wanted.has(sha256)) this.#filters.delete(sha256);
    const unknown = files.filter(({ sha256 }) => !this.#filters.has(sha256));
    if (unknown.length === 0) return;
    // One of its own: what it reads of every file must not push out what lookups will read again.
    const options = { threads: '1', memory_limit: '128MiB', enable_external_file_cache: 'false' };
    await withDuckDB(inMemory, options, async (connection) => {
      for (const file of unknown) {
        if (signal.aborted) return;
        const filter = await this.#read(connection, file, signal).catch(() => undefined);
        // What cannot be read stays unknown: the lookup that needs it will say what is wrong.
        if (filter !== undefined) this.#filters.set(file.sha256, filter);
      }
    });
  }

  /** Undefined where there is no room for it, and where reading was stopped. */
  async #read(
    connection: DuckDBConnection,
    { path, key }: ClickFile,
    signal: AbortSignal,
  ): Promise<BloomFilter | undefined> {
    const [[keys] = []] = (await connection.runAndReadAll(keyCountQuery(path))).getRows() as [number][];
    if (keys === undefined || this.bytes + BloomFilter.bytesFor(keys) > this.#maxBytes) return undefined;
    const filter = new BloomFilter(keys);
    for await (const { high, low } of wordPairs(connection, keysQuery(path, key))) {
      if (signal.aborted) return undefined;
      for (let row = 0; row < high.length; row++) filter.add(high[row] as number, low[row] as number);
    }
    return filter;
  }
}
