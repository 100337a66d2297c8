import { isUtf8 } from 'node:buffer';
import type { RecordFormat } from './recognize.ts';
import { maxLineBytes, type FileProblem } from './record-sink.ts';

/** Byte order mark that some writers put before UTF-8. */
export const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The engine reads 2,048 lines at a time, whatever they hold, with several copies of each. Longer ones than this are
 * read apart, by a few megabytes at a time.
 */
export const longLineBytes = 16 * 1024;

/**
 * Looks at a file as it passes by, chunk by chunk: valid UTF-8, line lengths, the marks of Parquet. Keeps no part of a
 * chunk, which its reader may overwrite.
 */
export class TextCheck {
  /** True without a byte order mark and without a character that the line reader stumbles over. */
  isPlain = true;
  /** Bytes of the longest line, exact where it is a long one. */
  longestLine = 0;
  /** The last line has an end. */
  endsLine = true;
  readonly #format: RecordFormat;
  #openLine = 0;
  #isFirst = true;
  #validUtf8 = true;
  #rest: Buffer = Buffer.alloc(0);
  #first: Buffer = Buffer.alloc(0);
  #last: Buffer = Buffer.alloc(0);

  constructor(format: RecordFormat) {
    this.#format = format;
  }

  see(chunk: Buffer): void {
    if (this.#format === 'parquet') {
      if (this.#first.length < 4) this.#first = Buffer.concat([this.#first, chunk.subarray(0, 4)]);
      this.#last =
        chunk.length >= 4 ? Buffer.from(chunk.subarray(-4)) : Buffer.concat([this.#last, chunk]).subarray(-4);
      return;
    }
    const lastByte = chunk[chunk.length - 1];
    this.endsLine = lastByte === 0x0a || lastByte === 0x0d;
    if (this.#format === 'ndjson') {
      this.isPlain &&= isPlain(chunk) && !(this.#isFirst && chunk.subarray(0, 3).equals(byteOrderMark));
      this.#measureLines(chunk);
    }
    this.#isFirst = false;
    const whole = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const end = whole.length - bytesOfCutCharacter(whole);
    this.#rest = Buffer.from(whole.subarray(end));
    this.#validUtf8 &&= isUtf8(whole.subarray(0, end));
  }

  /** Problem that no later byte can mend. */
  get problemSoFar(): FileProblem | undefined {
    if (this.longestLine <= maxLineBytes) return undefined;
    return {
      reason: 'line_too_long',
      detail: `a line has more than ${maxLineBytes} bytes, which is the most that is read`,
    };
  }

  problem(): FileProblem | undefined {
    if (this.#format === 'parquet') {
      const whole =
        this.#first.subarray(0, 4).toString('latin1') === 'PAR1' && this.#last.toString('latin1') === 'PAR1';
      return whole ? undefined : { reason: 'not_parquet', detail: 'the file does not begin and end as Parquet does' };
    }
    if (!this.#validUtf8 || this.#rest.length > 0)
      return {
        reason: 'bad_utf8',
        detail: 'the text is not valid UTF-8; format.encoding names another encoding, such as windows-1252',
      };
    return this.problemSoFar;
  }

  /** Leaps to the last line end within a long line's reach: asking for each line end takes several times as long. */
  #measureLines(chunk: Buffer): void {
    // A carriage return alone ends a line, too. Where there are both, as in CRLF, line feeds are enough.
    const lineEnd = chunk.includes(0x0a) ? 0x0a : 0x0d;
    let start = 0;
    for (;;) {
      const reach = longLineBytes - this.#openLine;
      let end = reach > 0 ? chunk.lastIndexOf(lineEnd, start + reach) : -1;
      if (end < start) {
        end = chunk.indexOf(lineEnd, start);
        if (end < 0) break;
        this.longestLine = Math.max(this.longestLine, this.#openLine + end - start);
      }
      this.#openLine = 0;
      start = end + 1;
    }
    this.#openLine += chunk.length - start;
    this.longestLine = Math.max(this.longestLine, this.#openLine);
  }
}

/**
 * DuckDB's line reader cuts here. It is nowhere in valid JSON, so a line that has it is a reject and may show a picture
 * of it.
 */
const lineCut = 0x01;

/** Returns whether lines have what the line reader stumbles over: it counts `\r\n` as two lines. */
export function isPlain(chunk: Buffer): boolean {
  return !chunk.includes(0x0d) && !chunk.includes(lineCut);
}

/** Counts the bytes at the end that belong to a character that the next chunk completes. */
function bytesOfCutCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
  }
  return 0;
}
