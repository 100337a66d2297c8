import { closeSync, openSync, writeSync } from 'node:fs';
import type { RecordSink } from '../../../kit/intake/reading/record-sink.ts';

const flushBytes = 1024 * 1024;
/** Up to this length bytes are copied one by one: a call of the copying function costs as much. */
const fewBytes = 24;

/** A file would become larger than is allowed: a few kilobytes may unpack to more than any disk holds. */
export class TooManyBytes extends Error {}

/**
 * A scratch file of lines, written as they come apart. It is written synchronously: a few bytes of a table may become a
 * long record each, so what waits for the disk has to be bounded within a chunk, too.
 */
export class LineFile implements RecordSink {
  readonly path: string;
  /** Lines that have ended. */
  lines = 0;
  /** Bytes of the longest line. */
  longest = 0;
  /** Bytes that the file may have. */
  limit = Infinity;
  readonly #file: number;
  readonly #buffer = Buffer.allocUnsafe(flushBytes);
  #used = 0;
  #written = 0;
  /** Offset at which the open line began, counted from the file's first byte. */
  #lineStart = 0;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, 'w');
  }

  /** Bytes of the line that is not ended yet. */
  get openLine(): number {
    return this.#written + this.#used - this.#lineStart;
  }

  byte(byte: number): void {
    if (this.#used === flushBytes) this.#flush();
    this.#buffer[this.#used++] = byte;
  }

  bytes(source: Buffer, from = 0, to = source.length): void {
    if (to - from > flushBytes - this.#used) this.#flush();
    if (to - from > flushBytes) {
      this.#write(source.subarray(from, to));
    } else if (to - from <= fewBytes) {
      for (let at = from; at < to; at++) this.#buffer[this.#used++] = source[at] as number;
    } else {
      this.#used += source.copy(this.#buffer, this.#used, from, to);
    }
  }

  endLine(): void {
    const length = this.openLine;
    if (length > this.longest) this.longest = length;
    this.lines++;
    this.byte(0x0a);
    this.#lineStart += length + 1;
  }

  /** Throws `TooManyBytes` like every writing. */
  finish(): void {
    this.#flush();
  }

  close(): void {
    closeSync(this.#file);
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  #write(bytes: Buffer): void {
    if (this.#written + bytes.length > this.limit) throw new TooManyBytes();
    for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done);
    this.#written += bytes.length;
  }
}
