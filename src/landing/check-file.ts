import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { splitJsonDocument } from './json-document.ts';
import { longestLineBytes, type LandingFile, type LandingFormat } from './landing-file.ts';
import { readThrough, sha256Of } from './read-through.ts';

/** What reading a file's bytes once has shown. */
export interface FileCheck {
  /** SHA-256 of the bytes as they lie in the landing folder. */
  sha256: string;
  /** Where the plain text lies; the landing file itself unless it had to be unpacked or its line ends changed. */
  readablePath: string;
  /** Why the file as a whole cannot be read. */
  problem?: { reason: string; detail: string };
  /** The file changed under our hands, or went, or could not be opened: what we saw may never have existed as a whole. Look again at the next run. */
  unstable: boolean;
}

/** A stream of the usual 64 KiB chunks takes four times as long over a log of gigabytes. */
const chunkBytes = 4 * 1024 * 1024;

/**
 * Reads the file once: digest, wholeness of a gzip, valid UTF-8, first and last bytes of Parquet.
 * DuckDB loads half of a broken gzip without a word and turns bad UTF-8 into NULL, so this must happen before it.
 * Text that is packed, is a JSON document, or has carriage returns, a byte order mark or what the line reader cuts at, is copied plain beside `scratchPath`.
 */
export async function checkFile(
  file: Pick<LandingFile, 'absolutePath' | 'format' | 'gzip' | 'bytes' | 'modifiedNs'>, scratchPath: string, unpackedLimit = Infinity,
): Promise<FileCheck> {
  const hash = createHash('sha256');
  const text = new TextCheck(file.format);
  let problem: FileCheck['problem'];
  let readablePath = file.absolutePath;
  try {
    if (file.gzip) {
      readablePath = scratchPath;
      const source = createReadStream(file.absolutePath, { highWaterMark: chunkBytes });
      source.on('data', (chunk) => void hash.update(chunk));
      await pipeline(source, createGunzip({ chunkSize: chunkBytes }), passingBy((chunk) => text.see(chunk), unpackedLimit), createWriteStream(scratchPath));
    } else {
      await readThrough(file.absolutePath, (chunk) => {
        hash.update(chunk);
        text.see(chunk);
      });
    }
    problem = text.problem();
    if (file.format === 'parquet' && file.bytes > 0) problem = text.parquetProblem();
    if (file.format === 'ndjson' || file.format === 'csv') problem ??= text.lineProblem();
    if (problem === undefined && file.format === 'json') {
      problem = await unfoldDocument(readablePath, `${scratchPath}.ndjson`);
      readablePath = `${scratchPath}.ndjson`;
    } else if (problem === undefined && text.needsPlainCopy) {
      readablePath = scratchPath;
      await copyPlain(file, scratchPath);
    }
  } catch (error) {
    const { code = '', path, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' && path === file.absolutePath) return { sha256: '', readablePath, unstable: true };
    if (error instanceof UnpackedTooLarge) {
      problem = { reason: 'unpacked_too_large', detail: `it unpacks to more than ${unpackedLimit} bytes: land it in parts, or unpacked; unpacked_gigabytes in offerline.json is the limit for files to come` };
    } else if (code.startsWith('Z_')) {
      problem = { reason: 'broken_gzip', detail: `the gzip is truncated or damaged: ${(error as Error).message}` };
    } else {
      throw error;
    }
    await rm(scratchPath, { force: true });
  }
  const after = await stat(file.absolutePath, { bigint: true }).catch(() => undefined);
  const unstable = after === undefined || Number(after.size) !== file.bytes || after.mtimeNs !== file.modifiedNs;
  // The digest of a file whose unpacking ended in the middle covers the part read; take the rest as well.
  const sha256 = problem?.reason === 'broken_gzip' || problem?.reason === 'unpacked_too_large' ? await sha256Of(file.absolutePath) : hash.digest('hex');
  return { sha256, readablePath, unstable, ...(problem && { problem }) };
}

/** A few kilobytes may unpack to more than any disk holds. */
class UnpackedTooLarge extends Error {}

function passingBy(see: (chunk: Buffer) => void, limit: number): Transform {
  let passed = 0;
  return new Transform({
    readableHighWaterMark: chunkBytes,
    writableHighWaterMark: chunkBytes,
    transform(chunk: Buffer, _encoding, done) {
      passed += chunk.length;
      if (passed > limit) {
        done(new UnpackedTooLarge());
        return;
      }
      see(chunk);
      done(null, chunk);
    },
  });
}

/** Looks at text as it passes by, chunk by chunk. */
class TextCheck {
  needsPlainCopy = false;
  /** Exact where a line reaches over the end of a chunk; shorter ones are far below the limit. */
  #longestLine = 0;
  #openLine = 0;
  readonly #isText: boolean;
  readonly #isLines: boolean;
  #validUtf8 = true;
  #rest: Buffer = Buffer.alloc(0);
  #first: Buffer = Buffer.alloc(0);
  #last: Buffer = Buffer.alloc(0);

  constructor(format: LandingFormat) {
    this.#isText = format !== 'parquet';
    this.#isLines = format === 'ndjson';
  }

  /** Keeps no part of the chunk, which its reader may overwrite. */
  see(chunk: Buffer): void {
    if (this.#first.length < 4) this.#first = Buffer.concat([this.#first, chunk.subarray(0, 4)]);
    this.#last = chunk.length >= 4 ? Buffer.from(chunk.subarray(-4)) : Buffer.concat([this.#last, chunk]).subarray(-4);
    if (!this.#isText) return;
    if (chunk.includes(0x0d) || (this.#isLines && chunk.includes(lineCut))) this.needsPlainCopy = true;
    const lineEnd = chunk.indexOf(0x0a);
    this.#longestLine = Math.max(this.#longestLine, this.#openLine + (lineEnd < 0 ? chunk.length : lineEnd));
    this.#openLine = lineEnd < 0 ? this.#openLine + chunk.length : chunk.length - chunk.lastIndexOf(0x0a) - 1;
    const whole = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const end = whole.length - bytesOfCutCharacter(whole);
    this.#rest = Buffer.from(whole.subarray(end));
    this.#validUtf8 &&= isUtf8(whole.subarray(0, end));
  }

  problem(): FileCheck['problem'] {
    if (!this.#isText) return undefined;
    if (this.#first.subarray(0, 3).equals(byteOrderMark)) this.needsPlainCopy = true;
    if (!this.#validUtf8 || this.#rest.length > 0) return { reason: 'bad_utf8', detail: 'the text is not valid UTF-8' };
    return undefined;
  }

  lineProblem(): FileCheck['problem'] {
    if (this.#longestLine <= longestLineBytes) return undefined;
    return { reason: 'line_too_long', detail: `a line has ${this.#longestLine} bytes; at most ${longestLineBytes} are read` };
  }

  parquetProblem(): FileCheck['problem'] {
    const whole = this.#first.subarray(0, 4).toString('latin1') === 'PAR1' && this.#last.toString('latin1') === 'PAR1';
    return whole ? undefined : { reason: 'not_parquet', detail: 'the file does not begin and end as Parquet does' };
  }
}

/** DuckDB's line reader cuts here. It is nowhere in valid JSON, so a line that has it is a reject and may show a picture of it. */
const lineCut = 0x01;
const lineCutShown = Buffer.from('\u2401').toString('latin1');

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** How many bytes at the end belong to a character that the next chunk completes. */
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

/** A JSON document of this many bytes does not fit into one string of the engine. */
const largestDocumentBytes = 500 * 1024 * 1024;

/** Writes a JSON document's records one a line, so that documents and NDJSON are read by the same code. An empty one has none. */
async function unfoldDocument(path: string, target: string): Promise<FileCheck['problem']> {
  const { size } = await stat(path);
  if (size > largestDocumentBytes) {
    return { reason: 'document_too_large', detail: `a .json document may have ${largestDocumentBytes} bytes at most; write it as .ndjson` };
  }
  const text = (await readFile(path, 'utf8')).replace(/^\ufeff/, '');
  const split = text.trim() === '' ? { records: [] } : splitJsonDocument(text);
  if ('reason' in split) return split;
  const longest = split.records.reduce((length, record) => Math.max(length, record.length), 0);
  if (longest > longestLineBytes) return { reason: 'line_too_long', detail: `a record has ${longest} characters; at most ${longestLineBytes} are read` };
  await writeFile(target, split.records.map((record) => `${record}\n`).join(''));
  return undefined;
}

/** Byte order mark off, every line end `\n`: DuckDB's line reader counts `\r\n` as two lines. */
async function copyPlain(file: Pick<LandingFile, 'absolutePath' | 'format' | 'gzip'>, scratchPath: string): Promise<void> {
  let first = true;
  let heldReturn = false;
  const plain = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let text = chunk.toString('latin1');
      if (first && chunk.subarray(0, 3).equals(byteOrderMark)) text = text.slice(3);
      first = false;
      if (heldReturn) text = `\r${text}`;
      heldReturn = text.endsWith('\r');
      if (heldReturn) text = text.slice(0, -1);
      text = text.replace(/\r\n?/g, '\n');
      if (file.format === 'ndjson') text = text.replaceAll('\u0001', lineCutShown);
      done(null, Buffer.from(text, 'latin1'));
    },
    flush(done) {
      done(null, heldReturn ? Buffer.from('\n') : null);
    },
  });
  const input = createReadStream(file.absolutePath, { highWaterMark: chunkBytes });
  const unpack = file.gzip ? [createGunzip({ chunkSize: chunkBytes })] : [];
  await pipeline([input, ...unpack, plain, createWriteStream(scratchPath)]);
}
