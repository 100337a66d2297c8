import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { readThrough } from '../kit/files/read-through.ts';
import type { Logger } from '../kit/logging/log.ts';
import { RepeatedFailure } from '../kit/logging/repeated-failure.ts';
import { readFileName } from './picture-files.ts';
import { maxPictureBytes } from './picture-type.ts';

/** Cache of some hundreds of usual pictures. */
const maxCachedBytes = 64 * 1024 * 1024;
/** Bounds files read at a time: each is in memory as a whole, and anybody can request them. */
const reading = pLimit(4);

/** A served picture. */
export interface MirroredPicture {
  bytes: Buffer;
  type: string;
  /** SHA-256 of the bytes, in hex. */
  sha256: string;
}

/**
 * Mirrored pictures for a service, which reads them while a pass writes: each request queries the index, so that new
 * pictures are served without a restart. A missing, damaged or unreadable picture is undefined, never an error.
 */
export class MirroredPictures {
  readonly #folder: string;
  readonly #indexFile: string;
  readonly #log: Logger;
  readonly #files = new LRUCache<string, Buffer>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ length }) => Math.max(1, length),
    // Requests that arrive during a reading share it.
    fetchMethod: (file) => reading(() => this.#read(file)),
  });
  #index: { database: DatabaseSync; byName: StatementSync; inode: number } | undefined;
  readonly #failure = new RepeatedFailure();

  constructor({ pictures, pictureIndexFile }: Pick<DataDirectory, 'pictures' | 'pictureIndexFile'>, log: Logger) {
    this.#folder = pictures;
    this.#indexFile = pictureIndexFile;
    this.#log = log;
  }

  async find(name: string): Promise<MirroredPicture | undefined> {
    try {
      const file = this.#fileOf(name);
      const named = file === undefined ? undefined : readFileName(file);
      if (file === undefined || named === undefined) return undefined;
      const bytes = await this.#files.fetch(file);
      return bytes === undefined ? undefined : { bytes, ...named };
    } catch (error) {
      this.#warn(`a mirrored picture cannot be read: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Size of the file cache and its limit, in bytes. */
  get cached(): { bytes: number; limit: number } {
    return { bytes: this.#files.calculatedSize, limit: maxCachedBytes };
  }

  close(): void {
    this.#index?.database.close();
    this.#index = undefined;
  }

  /** Reopens an index that a pass has replaced. */
  #fileOf(name: string): string | undefined {
    const inode = statSync(this.#indexFile, { throwIfNoEntry: false })?.ino;
    if (inode !== this.#index?.inode) this.close();
    if (inode === undefined) return undefined;
    if (this.#index === undefined) {
      const database = new DatabaseSync(this.#indexFile, { readOnly: true });
      try {
        this.#index = { database, byName: database.prepare('SELECT file FROM pictures WHERE name = ?'), inode };
      } catch (error) {
        database.close();
        throw error;
      }
    }
    const file = this.#index.byName.get(name)?.['file'];
    return typeof file === 'string' ? file : undefined;
  }

  /** Returns the bytes; undefined where their digest is not the one in the name. */
  async #read(file: string): Promise<Buffer | undefined> {
    const path = join(this.#folder, file);
    try {
      const { size } = await stat(path);
      if (size <= maxPictureBytes) {
        const bytes = Buffer.allocUnsafeSlow(size);
        const digest = createHash('sha256');
        let at = 0;
        // Chunk by chunk, so that other requests have their turn: digesting a large picture takes some milliseconds.
        await readThrough(path, (chunk) => {
          digest.update(chunk);
          at += chunk.copy(bytes, at);
        });
        if (digest.digest('hex') === readFileName(file)?.sha256) return bytes;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    this.#warn(`${path} is missing or damaged; \`offerline doctor --deep --repair\` and the next pass restore it`);
    return undefined;
  }

  #warn(message: string): void {
    if (this.#failure.isNew(message)) this.#log.warn(message);
  }
}
