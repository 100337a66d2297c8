import type { FileProblem } from './record-sink.ts';

/** Longer keys are none of a path. */
const maxKeyBytes = 64 * 1024;

/**
 * Follows a path of names with dots between through a document whose tokens pass by. A key that has dots itself counts
 * as written.
 */
export class RecordsPath {
  readonly #path: string;
  readonly #parts: readonly string[];
  /** Number of parts that lead to each open bracket on the path; the index is its depth. */
  readonly #taken: number[] = [];
  /** Parts that lead to the value behind the last key; undefined where it is not on the path. */
  #next: number | undefined;
  /** Index at which the key begins in the chunk; undefined for one that does not matter. */
  #keyFrom: number | undefined;
  /** Part of the key that came with the chunks before. */
  #keyBefore: Buffer = Buffer.alloc(0);
  #found = false;
  #problem: FileProblem | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#parts = path.split('.');
  }

  beginKey(depth: number, at: number): void {
    this.#next = undefined;
    this.#keyFrom = depth === this.#taken.length ? at + 1 : undefined;
    this.#keyBefore = Buffer.alloc(0);
  }

  /** To be called at the end of each chunk. */
  keepKey(chunk: Buffer): void {
    if (this.#keyFrom === undefined) return;
    this.#keyBefore = Buffer.concat([this.#keyBefore, chunk.subarray(this.#keyFrom)]);
    this.#keyFrom = this.#keyBefore.length > maxKeyBytes ? undefined : 0;
  }

  endKey(chunk: Buffer, at: number): void {
    if (this.#keyFrom === undefined) return;
    const inside = Buffer.concat([this.#keyBefore, chunk.subarray(this.#keyFrom, at)]).toString('utf8');
    this.#keyFrom = undefined;
    let key: string;
    try {
      key = JSON.parse(`"${inside}"`) as string;
    } catch {
      return;
    }
    const taken = this.#taken.at(-1) ?? 0;
    for (let next = this.#parts.length; next > taken; next--)
      if (this.#parts.slice(taken, next).join('.') === key) this.#next = next;
  }

  /** A value begins at a depth. Returns true where the records are in it. */
  beginValue(depth: number, byte: number): boolean {
    if (depth !== this.#taken.length) return false;
    const isElement = this.#inArray[depth] === true;
    const taken = depth === 0 ? 0 : isElement ? this.#taken.at(-1) : this.#next;
    this.#next = undefined;
    if (taken === undefined) return false;
    const isNested = byte === 0x7b || byte === 0x5b;
    if (taken === this.#parts.length && !isElement) {
      this.#found = true;
      // Writers have null or false where there are no records.
      if (!isNested && byte !== 0x6e && byte !== 0x66) this.#problem ??= this.#missing('is no list');
      return isNested;
    }
    if (isNested) {
      this.#taken.push(taken);
      this.#inArray[this.#taken.length] = byte === 0x5b;
    } else if (byte === 0x6e) this.#found = true;
    return false;
  }

  /** Brackets by depth, each true where it is an array's. */
  readonly #inArray: boolean[] = [];

  close(depth: number): void {
    if (depth === this.#taken.length) this.#taken.pop();
  }

  endDocument(): FileProblem | undefined {
    const problem = this.#problem ?? (this.#found ? undefined : this.#missing('is not there'));
    this.#found = false;
    return problem;
  }

  #missing(why: string): FileProblem {
    return { reason: 'no_records', detail: `the value at "${this.#path}", the place of the records, ${why}` };
  }
}
