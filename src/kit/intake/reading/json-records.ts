import { RecordsPath } from './records-path.ts';
import { maxLineBytes, type FileProblem, type RecordSink, type RecordTaker } from './record-sink.ts';

/** Kinds of what may come next in a JSON text. */
const state = {
  value: 0,
  valueOrEnd: 1,
  keyOrEnd: 2,
  key: 3,
  colon: 4,
  afterValue: 5,
  string: 6,
  escape: 7,
  hex: 8,
  literal: 9,
  minus: 10,
  zero: 11,
  integer: 12,
  point: 13,
  fraction: 14,
  exponent: 15,
  exponentSign: 16,
  exponentDigits: 17,
} as const;

const literals: Record<number, Buffer> = {
  0x74: Buffer.from('true'),
  0x66: Buffer.from('false'),
  0x6e: Buffer.from('null'),
};
/** Characters that may follow a backslash, but for `u`. */
const escaped = Buffer.from('"\\/bfnrt');
const [anArray, anObject] = [1, 0];

/** Depth at which records are while there are none: outside of their list. */
const nowhere = -1;
const recordSeparator = 0x1e;

/**
 * Place of the records of a document. `list`: the document is an array of them, or an object in which exactly one
 * value is an array. `itself`: it is one. A path names a place below the top: an array there holds the records, an
 * object there has them as values, and arrays on the way are gone through.
 */
export type RecordsPlace = 'list' | 'itself' | { path: string };

export interface JsonSettings {
  records?: RecordsPlace | undefined;
  /** Documents may follow one another, also with the record separators of RFC 7464 between. */
  several?: boolean | undefined;
}

/**
 * Takes JSON apart, chunk by chunk, into its records, one a line, untouched but for line breaks between tokens: money
 * keeps every digit, and nothing is held in memory but how deep the text is nested. All of it is checked to be valid
 * JSON.
 */
export class JsonRecords implements RecordTaker {
  readonly #lines: RecordSink;
  #state: number = state.value;
  /** Open brackets, each true where it is an array's. */
  #open = Buffer.alloc(64);
  #depth = 0;
  #isKey = false;
  #literal: Buffer = Buffer.alloc(0);
  /** Of a literal or of four hexadecimal digits. */
  #place = 0;
  #begun = false;
  #arrays = 0;
  /** How deep the values are nested of which each is a record. */
  #recordsDepth: number;
  #inRecord = false;
  #position = 0;
  readonly #path: RecordsPath | undefined;
  readonly #areDocuments: boolean;
  readonly #several: boolean;
  #problem: FileProblem | undefined;

  constructor(lines: RecordSink, { records = 'list', several = false }: JsonSettings = {}) {
    this.#lines = lines;
    this.#path = typeof records === 'object' ? new RecordsPath(records.path) : undefined;
    this.#areDocuments = records === 'itself';
    this.#recordsDepth = this.#areDocuments ? 0 : nowhere;
    this.#several = several;
  }

  get problem(): FileProblem | undefined {
    return this.#problem;
  }

  take(chunk: Buffer): void {
    if (this.#problem !== undefined) return;
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      switch (this.#state) {
        case state.string:
          at = endOfPlainText(chunk, at);
          if (at === chunk.length) break;
          if (chunk[at] === 0x22 && this.#isKey) {
            this.#path?.endKey(chunk, at);
            this.#state = state.colon;
          } else if (chunk[at] === 0x22) this.#state = this.#ended(chunk, from, at + 1);
          else if (chunk[at] === 0x5c) this.#state = state.escape;
          else return this.#break(at);
          break;
        case state.escape:
          if (byte === 0x75) this.#state = state.hex;
          else if (escaped.includes(byte)) this.#state = state.string;
          else return this.#break(at);
          this.#place = 0;
          break;
        case state.hex:
          if (!isHexDigit(byte)) return this.#break(at);
          if (++this.#place === 4) this.#state = state.string;
          break;
        case state.literal:
          if (byte !== this.#literal[this.#place++]) return this.#break(at);
          if (this.#place === this.#literal.length) this.#state = this.#ended(chunk, from, at + 1);
          break;
        case state.minus:
        case state.zero:
        case state.integer:
        case state.point:
        case state.fraction:
        case state.exponent:
        case state.exponentSign:
        case state.exponentDigits: {
          const next = afterNumberByte(this.#state, byte);
          if (next === undefined) return this.#break(at);
          if (next !== state.afterValue) {
            this.#state = next;
            break;
          }
          this.#state = this.#ended(chunk, from, at);
          // What ended the number is read as what it is.
          at--;
          break;
        }
        default:
          if (byte === 0x0a || byte === 0x0d) chunk[at] = 0x20;
          if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) break;
          if (byte === recordSeparator && this.#depth === 0 && this.#several) break;
          if (this.#startsRecord(byte)) {
            from = at;
            this.#inRecord = true;
          }
          if (!this.#token(byte, chunk, from, at)) return this.#break(at);
          break;
      }
    }
    this.#path?.keepKey(chunk);
    if (this.#inRecord) this.#lines.bytes(chunk, from);
    if (this.#lines.openLine > maxLineBytes) this.#problem = tooLong;
    this.#position += chunk.length;
  }

  finish(): FileProblem | undefined {
    if (this.#problem !== undefined) return this.#problem;
    const isNumber = [state.zero, state.integer, state.fraction, state.exponentDigits].some(
      (each) => each === this.#state,
    );
    if (this.#begun && (this.#depth > 0 || !(isNumber || this.#state === state.afterValue))) this.#break(0);
    else if (this.#begun && !this.#endDocument()) return this.#problem;
    // A number has no end of its own.
    if (this.#problem === undefined && this.#inRecord) this.#lines.endLine();
    if (this.#problem === undefined && this.#lines.longest > maxLineBytes) this.#problem = tooLong;
    return this.#problem;
  }

  /** A value begins directly in the array of records. */
  #startsRecord(byte: number): boolean {
    return (
      this.#depth === this.#recordsDepth &&
      (this.#state === state.value || this.#state === state.valueOrEnd || this.#beginsDocument(byte)) &&
      byte !== 0x5d
    );
  }

  /** Behind a document another one may come. */
  #beginsDocument(byte: number): boolean {
    return this.#several && this.#depth === 0 && this.#state === state.afterValue && byte !== 0x2c;
  }

  /** False where what the document holds is no records. */
  #endDocument(): boolean {
    if (this.#path !== undefined) this.#problem ??= this.#path.endDocument();
    else if (!this.#areDocuments && this.#arrays !== 1)
      this.#problem ??= {
        reason: 'no_single_array',
        detail: `the document holds ${this.#arrays} arrays at its top, not exactly one; format.records names the place of the records`,
      };
    this.#arrays = 0;
    return this.#problem === undefined;
  }

  /** Reads a byte between strings, numbers and literals. False where it cannot stand there. */
  #token(byte: number, chunk: Buffer, from: number, at: number): boolean {
    switch (this.#state) {
      case state.valueOrEnd:
        if (byte === 0x5d) return this.#close(anArray, chunk, from, at);
        return this.#begin(byte);
      case state.value:
        return this.#begin(byte);
      case state.keyOrEnd:
        if (byte === 0x7d) return this.#close(anObject, chunk, from, at);
        return this.#beginKey(byte, at);
      case state.key:
        return this.#beginKey(byte, at);
      case state.colon:
        this.#state = state.value;
        return byte === 0x3a;
      default:
        if (byte === 0x5d) return this.#close(anArray, chunk, from, at);
        if (byte === 0x7d) return this.#close(anObject, chunk, from, at);
        if (this.#beginsDocument(byte)) return this.#endDocument() && this.#begin(byte);
        if (byte === 0x2c && this.#depth === 0 && this.#several) this.#problem = commaBehindRecord;
        if (byte !== 0x2c || this.#depth === 0) return false;
        this.#state = this.#open[this.#depth] === anArray ? state.value : state.key;
        return true;
    }
  }

  #begin(byte: number): boolean {
    this.#begun = true;
    this.#isKey = false;
    if (this.#path !== undefined && !this.#inRecord) this.#enter(this.#path, byte);
    if (byte === 0x22) this.#state = state.string;
    else if (byte === 0x7b) return this.#nest(anObject);
    else if (byte === 0x5b) return this.#nest(anArray);
    else if (byte === 0x2d) this.#state = state.minus;
    else if (byte === 0x30) this.#state = state.zero;
    else if (byte > 0x30 && byte <= 0x39) this.#state = state.integer;
    else {
      const literal = literals[byte];
      if (literal === undefined) return false;
      this.#literal = literal;
      this.#place = 1;
      this.#state = state.literal;
    }
    return true;
  }

  /** A value outside of the records begins: it may be the place of them. */
  #enter(path: RecordsPath, byte: number): void {
    const isNested = byte === 0x7b || byte === 0x5b;
    if (path.beginValue(this.#depth, byte) && isNested) this.#recordsDepth = this.#depth + 1;
  }

  #beginKey(byte: number, at: number): boolean {
    this.#path?.beginKey(this.#depth, at);
    this.#isKey = true;
    this.#state = state.string;
    return byte === 0x22;
  }

  #nest(bracket: number): boolean {
    this.#depth++;
    if (this.#depth > maxLineBytes) {
      this.#problem = tooLong;
      return false;
    }
    if (this.#depth === this.#open.length) this.#open = Buffer.concat([this.#open, Buffer.alloc(this.#open.length)]);
    this.#open[this.#depth] = bracket;
    this.#state = bracket === anArray ? state.valueOrEnd : state.keyOrEnd;
    if (
      bracket === anArray &&
      !this.#inRecord &&
      this.#path === undefined &&
      (this.#depth === 1 || (this.#depth === 2 && this.#open[1] === anObject))
    ) {
      this.#arrays++;
      if (this.#arrays === 1) this.#recordsDepth = this.#depth;
    }
    return true;
  }

  #close(bracket: number, chunk: Buffer, from: number, at: number): boolean {
    if (this.#depth === 0 || this.#open[this.#depth] !== bracket) return false;
    if (this.#depth === this.#recordsDepth) this.#recordsDepth = nowhere;
    this.#path?.close(this.#depth);
    this.#depth--;
    this.#state = this.#ended(chunk, from, at + 1);
    return true;
  }

  /** A value has ended; where it was a record, its line has. */
  #ended(chunk: Buffer, from: number, to: number): number {
    if (this.#inRecord && this.#depth === this.#recordsDepth) {
      this.#lines.bytes(chunk, from, to);
      this.#lines.endLine();
      this.#inRecord = false;
    }
    return state.afterValue;
  }

  #break(at: number): void {
    this.#problem ??= {
      reason: 'broken_json',
      detail: `the document is not valid JSON; reading it stopped at its byte ${this.#position + at + 1}`,
    };
  }
}

/** Problem of lists that somebody took apart into lines without removing their commas. */
export const commaBehindRecord: FileProblem = {
  reason: 'comma_behind_record',
  detail: 'a comma follows each record: remove them, or put all of it into [ ] as one JSON array',
};

const tooLong: FileProblem = { reason: 'line_too_long', detail: `a record has more than ${maxLineBytes} bytes` };

/**
 * Finds the end of a string's plain text: the index of the next quote, backslash or control character, or the chunk's
 * end.
 */
function endOfPlainText(chunk: Buffer, start: number): number {
  let at = start;
  while (at < chunk.length) {
    const byte = chunk[at] as number;
    if (byte === 0x22 || byte === 0x5c || byte < 0x20) break;
    at++;
  }
  return at;
}

/**
 * The state behind another byte of a number; `afterValue` where the number has ended before it, undefined where it must
 * not.
 */
function afterNumberByte(before: number, byte: number): number | undefined {
  const isDigit = byte >= 0x30 && byte <= 0x39;
  switch (before) {
    case state.minus:
      return !isDigit ? undefined : byte === 0x30 ? state.zero : state.integer;
    case state.integer:
      if (isDigit) return state.integer;
      break;
    case state.point:
      return isDigit ? state.fraction : undefined;
    case state.fraction:
      if (isDigit) return state.fraction;
      break;
    case state.exponent:
      if (byte === 0x2b || byte === 0x2d) return state.exponentSign;
      return isDigit ? state.exponentDigits : undefined;
    case state.exponentSign:
      return isDigit ? state.exponentDigits : undefined;
    case state.exponentDigits:
      return isDigit ? state.exponentDigits : state.afterValue;
  }
  if (byte === 0x2e && before !== state.fraction) return state.point;
  return byte === 0x65 || byte === 0x45 ? state.exponent : state.afterValue;
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
