import { open, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Effects } from '../../kit/files/effects.ts';
import { writeAt } from '../../kit/files/write-at.ts';
import type { Bucket } from './bucket.ts';
import { bucketError } from './bucket-error.ts';
import type { ListedObject } from './listed-object.ts';
import type { TakenObjects } from './taken-objects.ts';
import { Tries, type Asking } from './tries.ts';

/** Bytes after which a part is synced to the disk; after a crash the next pull goes on from the last sync. */
export const syncEveryBytes = 8 * 1024 * 1024;
/** A body that is silent for so long has broken off. */
const silenceMilliseconds = 60_000;

/** The file that an object becomes. */
export interface ObjectPart {
  /** Absolute path of the file while it is not whole. */
  file: string;
  /** Path of the whole file, relative to the landing folder: what its progress is noted under. */
  path: string;
}

/** Parts that fetching an object needs. */
export interface FetchingObjects extends Asking {
  bucket: Bucket;
  taken: TakenObjects;
  effects: Effects;
}

/**
 * Fetches an object into its part, from where it was left, to before a position. What came stays on the disk and noted,
 * also where this throws: a `BucketError`, or the signal's reason once that is aborted.
 */
export async function fetchObject(
  object: ListedObject,
  part: ObjectPart,
  from: number,
  to: number,
  fetching: FetchingObjects,
): Promise<void> {
  await fetching.effects.perform('s3 object: written', async () => {
    const file = await open(part.file, from === 0 ? 'w' : 'r+');
    const written = new WrittenPart(file, part, from, fetching.taken);
    try {
      // Bytes after `from` are not known to be on the disk: a power cut may have lost them.
      if (from > 0) await file.truncate(from);
      await fetchInto(written, object, to, fetching);
    } finally {
      try {
        // A small whole object is not noted: after a crash, fetching it again costs less.
        if (written.bytes < object.bytes || object.bytes >= syncEveryBytes) await written.sync();
      } finally {
        await file.close();
        if (written.bytes === 0) await fetching.effects.files.remove(part.file, 's3 object: part removed');
      }
    }
  });
}

async function fetchInto(
  written: WrittenPart,
  object: ListedObject,
  to: number,
  { bucket, ...asking }: FetchingObjects,
): Promise<void> {
  const tries = new Tries(asking);
  for (let before = written.bytes; written.bytes < to;) {
    try {
      await readInto(written, await bucket.read(object, written.bytes, to, asking.signal), to, asking.signal);
    } catch (error) {
      if (error instanceof UnwritableError) throw error.cause;
      if (error instanceof DamagedError) await written.restart();
      // A try that brought this much resets the count of failed ones.
      if (written.bytes - before >= syncEveryBytes) tries.begin();
      before = written.bytes;
      await tries
        .failed(error, `object ${object.key} broke off after ${written.bytes} bytes`)
        .catch((last: unknown) => {
          throw asking.signal.aborted ? last : bucketError(last, asking.redact, bucket.name, object.key);
        });
    }
  }
}

/** The bytes that came are not those that the store has, as its checksum says. */
class DamagedError extends Error {
  override readonly name = 'DamagedError';
  readonly code = 'a checksum that does not fit';
}
/** `cause`: why the disk did not take it. */
class UnwritableError extends Error {}

/** Writes a body as far as it comes. Throws where that is not all. */
async function readInto(written: WrittenPart, body: Readable, to: number, signal: AbortSignal): Promise<void> {
  const silence = setTimeout(() => body.destroy(brokenOff('a body that fell silent')), silenceMilliseconds);
  const stop = () => body.destroy(brokenOff('aborted'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      silence.refresh();
      if (written.bytes + chunk.length > to) throw brokenOff('a body that is too long');
      await written.write(chunk).catch((error: unknown) => {
        throw new UnwritableError('not written', { cause: error });
      });
    }
  } catch (error) {
    if (/checksum/i.test((error as Error).message)) throw new DamagedError('damaged under way', { cause: error });
    throw error;
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', stop);
  }
  if (written.bytes < to) throw brokenOff('a body that is too short');
}

/** An error whose `code` an operator is shown. */
function brokenOff(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A part that grows, and what is noted of it. */
class WrittenPart {
  bytes: number;
  readonly #file: FileHandle;
  readonly #part: ObjectPart;
  readonly #taken: TakenObjects;
  #synced: number;

  constructor(file: FileHandle, part: ObjectPart, bytes: number, taken: TakenObjects) {
    this.#file = file;
    this.#part = part;
    this.#taken = taken;
    this.bytes = bytes;
    this.#synced = bytes;
  }

  async write(chunk: Buffer): Promise<void> {
    await writeAt(this.#file, chunk, this.bytes);
    this.bytes += chunk.length;
    if (this.bytes - this.#synced >= syncEveryBytes) await this.sync();
  }

  /** Syncs the part to the disk, then notes its length. */
  async sync(): Promise<void> {
    if (this.bytes === this.#synced) return;
    await this.#file.datasync();
    this.#taken.noteSynced(this.#part.path, this.bytes);
    this.#synced = this.bytes;
  }

  async restart(): Promise<void> {
    this.#taken.forgetPart(this.#part.path);
    await this.#file.truncate(0);
    this.bytes = 0;
    this.#synced = 0;
  }
}
