import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { assertNotStopped } from '../../../kit/errors/errors.ts';
import { CsvRecords } from './csv-records.ts';
import { JsonRecords } from './json-records.ts';
import { byteOrderMark, longLineBytes, type FileLines, type FileProblem, type LandingFile } from '../landing-file.ts';
import { LineFile, TooManyBytes } from './line-file.ts';
import { setLongLinesApart } from './long-lines.ts';
import { PlainLines } from './plain-lines.ts';
import { readThrough } from '../../../kit/files/read-through.ts';
import { TextCheck } from './text-check.ts';

export type ConvertibleFile = Pick<LandingFile, 'kind' | 'absolutePath' | 'format' | 'gzip' | 'bytes'>;

export interface ConvertedFile extends FileLines {
  problem: FileProblem | undefined;
  /** The last line has an end. */
  endsLine: boolean;
}

/** A stream of the usual 64 KiB chunks takes four times as long over a log of gigabytes. */
const chunkBytes = 4 * 1024 * 1024;

/** A file cannot be used, whatever comes behind what was read of it. */
export class UnusableFile extends Error {
  readonly problem: FileProblem;
  constructor(problem: FileProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** A file whose lines are those of the landing file itself. */
export function asLines({ absolutePath }: Pick<LandingFile, 'absolutePath'>): FileLines {
  return { readablePath: absolutePath, firstRow: 1, columns: null, unterminatedRow: null, longLines: [] };
}

/**
 * Makes lines of a file, one record each: of what is packed, of JSON documents and CSV, and of lines that have carriage
 * returns, a byte order mark or what the line reader cuts at. No more than a chunk and a record is held in memory.
 * Throws `TooManyBytes`, `UnusableFile` at the first byte that makes the file so, `StoppedError` once `stop` is
 * aborted, and what the file system and zlib have to say.
 */
export async function toNdjson(
  file: ConvertibleFile,
  scratchPath: string,
  maxUnpackedBytes: number,
  onBytes: (bytes: Buffer) => void,
  stop?: AbortSignal,
): Promise<ConvertedFile> {
  const text = new TextCheck(file.format);
  if (file.gzip || file.format === 'json' || file.format === 'csv')
    return unfold(file, text, scratchPath, maxUnpackedBytes, onBytes, stop);
  await readThrough(file.absolutePath, (chunk) => {
    assertNotStopped(stop, stoppedReading);
    onBytes(chunk);
    text.see(chunk);
    stopAtLongLine(text.problemSoFar);
  });
  const lines = asLines(file);
  const problem = file.bytes === 0 ? undefined : text.problem();
  if (problem === undefined && !text.isPlain)
    lines.readablePath = await copyPlain(file.absolutePath, `${scratchPath}.ndjson`);
  return withoutLongLines(file, scratchPath, { ...lines, problem, endsLine: text.endsLine }, text.longestLine);
}

async function unfold(
  file: ConvertibleFile,
  text: TextCheck,
  scratchPath: string,
  maxUnpackedBytes: number,
  onBytes: (bytes: Buffer) => void,
  stop: AbortSignal | undefined,
): Promise<ConvertedFile> {
  const lines = new LineFile(`${scratchPath}.ndjson`);
  const csv = file.format === 'csv' ? new CsvRecords(lines) : undefined;
  const records = csv ?? (file.format === 'json' ? new JsonRecords(lines) : new PlainLines(lines));
  let read = 0;
  const take = (chunk: Buffer) => {
    assertNotStopped(stop, stoppedReading);
    const isFirst = read === 0;
    read += chunk.length;
    if (read > maxUnpackedBytes && (file.gzip || file.format === 'json')) throw new TooManyBytes();
    // Names of columns may make long records of a few commas.
    lines.limit = maxUnpackedBytes + 4 * read;
    text.see(chunk);
    records.take(isFirst ? withoutMark(chunk) : chunk);
    stopAtLongLine(text.problemSoFar ?? records.problem);
  };
  try {
    if (file.gzip) await unpack(file.absolutePath, onBytes, take);
    else {
      await readThrough(file.absolutePath, (chunk) => {
        onBytes(chunk);
        take(chunk);
      });
    }
    const unfolding = records.finish();
    lines.finish();
    const unfolded: ConvertedFile = {
      readablePath: lines.path,
      firstRow: csv ? 2 : 1,
      columns: csv?.columns ?? null,
      unterminatedRow: csv?.unterminatedRow ?? null,
      longLines: [],
      problem: text.problem() ?? unfolding,
      endsLine: text.endsLine,
    };
    return await withoutLongLines(file, scratchPath, unfolded, Math.max(text.longestLine, lines.longest));
  } finally {
    lines.close();
  }
}

/** Of `StoppedError`: a few kilobytes may unpack to gigabytes, so reading ends within a file, too. */
export const stoppedReading =
  'the run was asked to end while it read landing files; nothing of that is kept, and the next run reads them';

/** Gigabytes may follow, of which nothing would be used. What else is wrong is known when all was read. */
function stopAtLongLine(problem: FileProblem | undefined): void {
  if (problem?.reason === 'line_too_long') throw new UnusableFile(problem);
}

/** Catalogs are read a line at a time: only in those of logs long lines are in the way. */
async function withoutLongLines(
  { kind, absolutePath }: ConvertibleFile,
  scratchPath: string,
  taken: ConvertedFile,
  longest: number,
): Promise<ConvertedFile> {
  if (taken.problem !== undefined || kind === 'offers' || longest <= longLineBytes) return taken;
  const apart = await setLongLinesApart(taken, scratchPath);
  if (taken.readablePath !== absolutePath) await rm(taken.readablePath);
  return { ...taken, ...apart };
}

/** Hands a gzip's text on, chunk by chunk. */
async function unpack(path: string, onBytes: (bytes: Buffer) => void, take: (chunk: Buffer) => void): Promise<void> {
  const source = createReadStream(path, { highWaterMark: chunkBytes });
  source.on('data', (bytes) => onBytes(bytes as Buffer));
  await pipeline(source, createGunzip({ chunkSize: chunkBytes }), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) take(chunk);
  });
}

async function copyPlain(source: string, target: string): Promise<string> {
  const lines = new LineFile(target);
  try {
    const plain = new PlainLines(lines);
    let isFirst = true;
    await readThrough(source, (chunk) => {
      plain.take(isFirst ? withoutMark(chunk) : chunk);
      isFirst = false;
    });
    plain.finish();
    lines.finish();
  } finally {
    lines.close();
  }
  return target;
}

function withoutMark(first: Buffer): Buffer {
  return first.subarray(0, 3).equals(byteOrderMark) ? first.subarray(3) : first;
}
