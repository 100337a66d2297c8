import { readdir, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import type { Effects } from '../../kit/files/effects.ts';
import type { LandingKind } from '../../kit/vocabulary/values.ts';
import { prefixesOf } from '../config/s3-settings.ts';
import { Bucket, type BucketAccess } from './bucket.ts';
import { BucketError } from './bucket-error.ts';
import { fetchObject, type FetchingObjects, type ObjectPart } from './fetch-object.ts';
import { isLandingName, landingPath, leftOutFor, type LeftOut, type ListedObject } from './listed-object.ts';
import type { ObjectList, TakenObject, TakenObjects } from './taken-objects.ts';
import type { Asking } from './tries.ts';

/** Result of a bucket's pull so far. */
export interface ObjectsPull {
  /** Pages of the lists. */
  pages: number;
  /** Objects that have become landing files. */
  taken: number;
  /** The newest landing file, relative to the landing folder. */
  lastPath: string | null;
  /** Objects left out, by reason. */
  leftOut: Partial<Record<LeftOut, number>>;
}

export interface ObjectsRequest extends BucketAccess {
  source: string;
  landing: string;
  taken: TakenObjects;
  effects: Effects;
  /** Called after every page. */
  onPage: (pull: ObjectsPull) => void;
}

/** Most bytes that one pull fetches; the rest comes with the next. */
const maxPullBytes = 2 * 1024 * 1024 * 1024;
const objectsAtOnce = 4;
const partEnding = '.part';
/** Where a store says for so many pages that there is more, and names none of it, there is no end. */
const mostEmptyPages = 100;
/** A store that refuses so many objects refuses all. */
const maxFaults = 20;

/**
 * Lists the prefixes of a bucket and makes of each new object a landing file: whole or not at all, and once. One object
 * that cannot be had keeps no other; when all else has come it fails the pull. Throws `BucketError`, or the signal's
 * reason once that is aborted; what has come until then stays and counts.
 */
export async function pullObjects(request: ObjectsRequest, asking: Asking, maxBytes = maxPullBytes): Promise<void> {
  using bucket = await Bucket.open(request);
  const pull = new BucketPull(request, bucket, asking, maxBytes);
  for (const { kind, prefix } of prefixesOf(request.settings)) await pull.takeList(kind, prefix);
  pull.throwFaults();
}

/** Object to fetch, and the files that it is written to. */
interface Piece {
  object: ListedObject;
  /** The landing file that it becomes. */
  file: string;
  part: ObjectPart;
  /** True where the landing file is there already. */
  landed: boolean;
  /** Bytes of the object: from the first to before the second. */
  from: number;
  to: number;
}

class BucketPull {
  readonly #request: ObjectsRequest;
  readonly #bucket: Bucket;
  readonly #asking: Asking;
  readonly #sum: ObjectsPull = { pages: 0, taken: 0, lastPath: null, leftOut: {} };
  readonly #faults: BucketError[] = [];
  /** Bytes that may still be asked for. */
  #room: number;

  constructor(request: ObjectsRequest, bucket: Bucket, asking: Asking, room: number) {
    this.#request = request;
    this.#bucket = bucket;
    this.#asking = asking;
    this.#room = room;
  }

  async takeList(kind: LandingKind, prefix: string): Promise<void> {
    const { source, settings, taken, onPage } = this.#request;
    const list = { source, bucket: settings.bucket, kind };
    const leftovers = await this.#partsOf(kind);
    let from: string | undefined;
    let emptyPages = 0;
    let firstKey: string | undefined;
    do {
      const page = await this.#bucket.list(prefix, from, this.#asking);
      this.#sum.pages++;
      emptyPages = page.objects.length === 0 ? emptyPages + 1 : 0;
      if (emptyPages === mostEmptyPages)
        throw new BucketError(
          'bucket',
          `bucket ${settings.bucket}: its list has ${mostEmptyPages} pages in a row that name no object; see base_url`,
        );
      const begins = page.objects[0]?.key;
      // A store that ignores the token gives the first page for ever. Not all of them list by order of keys.
      if (begins !== undefined && begins === firstKey)
        throw new BucketError(
          'bucket',
          `bucket ${settings.bucket}: a page of its list begins with the same key as the one before: the store does not go on where it is asked to; see base_url`,
        );
      firstKey = begins ?? firstKey;
      // What was taken may be archived by now.
      const wanted = taken.newOf(list, page.objects).filter((object) => {
        const reason = leftOutFor(object, prefix);
        if (reason !== undefined) this.#leaveOut(reason);
        return reason === undefined;
      });
      try {
        await this.#takePage(list, wanted, leftovers);
      } finally {
        onPage({ ...this.#sum, leftOut: { ...this.#sum.leftOut } });
      }
      from = page.next;
    } while (from !== undefined);
    await this.#removeParts(kind, leftovers);
  }

  /** Throws what kept objects from being taken, once all others have been. */
  throwFaults(): void {
    const [first, ...others] = this.#faults;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    throw new BucketError(
      'bucket',
      `${first.message}; ${others.length} more objects could not be fetched either. The next pull asks for all of them again`,
      { cause: first },
    );
  }

  /** Takes the objects; what has its name is written down even where others fail. */
  async #takePage(list: ObjectList, objects: readonly ListedObject[], leftovers: Set<string>): Promise<void> {
    if (objects.length === 0) return;
    const { effects, landing, taken } = this.#request;
    const top = join(landing, this.#folderOf(list.kind));
    const pieces = await this.#piecesOf(objects, list.kind, leftovers);
    for (const folder of new Set(pieces.map(({ file }) => dirname(file)))) await effects.files.makeDirectory(folder);
    const failed = new AbortController();
    const fetching: FetchingObjects = {
      ...this.#asking,
      signal: AbortSignal.any([this.#asking.signal, failed.signal]),
      bucket: this.#bucket,
      taken,
      effects,
    };
    const landed: TakenObject[] = [];
    let failure: { error: unknown } | undefined;
    const limit = pLimit(objectsAtOnce);
    const takeOne = async (piece: Piece) => {
      if (fetching.signal.aborted) return;
      try {
        if (await this.#take(piece, fetching)) landed.push({ object: piece.object, path: piece.part.path });
      } catch (error) {
        if (error instanceof BucketError && this.#passOver(error)) return;
        failure ??= { error };
        failed.abort(error);
      }
    };
    await limit.map(pieces, takeOne);
    if (landed.length > 0) {
      const folders = new Set(landed.flatMap(({ path }) => foldersBetween(dirname(join(landing, path)), top)));
      for (const folder of folders) await effects.files.syncDirectory(folder, 's3 objects: folder synced');
      await effects.perform('s3 objects: taken', async () => taken.put(list, landed));
      this.#sum.taken += landed.length;
      this.#sum.lastPath = landed.at(-1)?.path ?? null;
    }
    if (failure !== undefined) throw failure.error;
    this.#asking.signal.throwIfAborted();
  }

  /** Objects for which there is room, in the list's order: the first ones do not wait for the others. */
  async #piecesOf(
    objects: readonly ListedObject[],
    kind: LandingKind,
    leftovers: Set<string>,
  ): Promise<readonly Piece[]> {
    const pieces: Piece[] = [];
    for (const object of objects) {
      const name = landingPath(this.#bucket.name, object);
      const path = `${this.#folderOf(kind)}/${name}`;
      const file = join(this.#request.landing, path);
      const part = { file: `${file}${partEnding}`, path };
      const hasPart = leftovers.delete(`${name}${partEnding}`);
      // A pull was killed after it had its name, and before that was written down.
      const landed = (await sizeOf(file)) === object.bytes;
      const from = hasPart && !landed ? await this.#heldOf(part) : 0;
      const to = landed ? 0 : Math.min(object.bytes, from + this.#room);
      this.#room -= to - from;
      pieces.push({ object, file, part, landed, from, to });
    }
    return pieces;
  }

  /** Makes a landing file of an object; false where a part of it is left to the next pull. */
  async #take({ object, file, part, landed, from, to }: Piece, fetching: FetchingObjects): Promise<boolean> {
    if (landed) return true;
    if (to > from || to === object.bytes) await this.#fetch(object, part, from, to, fetching);
    if (to < object.bytes) {
      this.#leaveOut('next_pull');
      return false;
    }
    const { effects } = this.#request;
    // The newest export of a catalog decides, and its age is that in the bucket.
    const modified = new Date(object.modified);
    await effects.perform('s3 object: dated', () => utimes(part.file, modified, modified));
    await effects.files.syncFile(part.file, 's3 object: fsynced');
    await effects.files.rename(part.file, file, 's3 object: renamed');
    return true;
  }

  async #fetch(
    object: ListedObject,
    part: ObjectPart,
    from: number,
    to: number,
    fetching: FetchingObjects,
  ): Promise<void> {
    try {
      await fetchObject(object, part, from, to, fetching);
    } catch (error) {
      if (error instanceof BucketError && error.fault === 'moved') {
        await fetching.effects.files.remove(part.file, 's3 object: part removed');
        fetching.taken.forgetPart(part.path);
      }
      throw error;
    }
  }

  /** Bytes of a part that are there for certain. */
  async #heldOf({ file, path }: ObjectPart): Promise<number> {
    const { taken } = this.#request;
    const synced = taken.syncedBytes(path);
    if (synced <= ((await sizeOf(file)) ?? 0)) return synced;
    taken.forgetPart(path);
    return 0;
  }

  /** Returns whether the others go on although this object did not come. */
  #passOver(error: BucketError): boolean {
    if (error.fault === 'moved' || error.fault === 'archived') {
      this.#leaveOut(error.fault);
      return true;
    }
    if (error.fault === 'bucket' || this.#faults.length === maxFaults) return false;
    this.#faults.push(error);
    return true;
  }

  #leaveOut(reason: LeftOut): void {
    this.#sum.leftOut[reason] = (this.#sum.leftOut[reason] ?? 0) + 1;
  }

  /** Relative to the landing folder. */
  #folderOf(kind: LandingKind): string {
    return `${kind}/${this.#request.source}`;
  }

  /** Parts that earlier pulls have left, relative to the source's folder; `folder`: of partitions in it. */
  async #partsOf(kind: LandingKind, folder = ''): Promise<Set<string>> {
    const absolute = join(this.#request.landing, this.#folderOf(kind), folder);
    const entries = await readdir(absolute, { withFileTypes: true }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    });
    const parts = new Set<string>();
    for (const entry of entries) {
      const { name } = entry;
      if (entry.isDirectory() && name.includes('='))
        for (const part of await this.#partsOf(kind, `${folder}${name}/`)) parts.add(part);
      else if (name.endsWith(partEnding) && isLandingName(name.slice(0, -partEnding.length)))
        parts.add(`${folder}${name}`);
    }
    return parts;
  }

  /** Removes parts of objects that the list has no more. */
  async #removeParts(kind: LandingKind, names: ReadonlySet<string>): Promise<void> {
    const { landing, taken, effects } = this.#request;
    for (const name of names) {
      const path = `${this.#folderOf(kind)}/${name.slice(0, -partEnding.length)}`;
      await effects.files.remove(join(landing, `${path}${partEnding}`), 's3 object: part removed');
      taken.forgetPart(path);
    }
  }
}

/** A folder and those above it up to `top`: a new one's name is on the disk once the one above it is synced. */
function foldersBetween(folder: string, top: string): string[] {
  return folder === top ? [folder] : [folder, ...foldersBetween(dirname(folder), top)];
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
