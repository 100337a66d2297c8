import { rm } from 'node:fs/promises';
import { assertNotStopped } from '../../../kit/errors/errors.ts';
import { readThrough } from '../../../kit/files/read-through.ts';
import type { FormatSettings } from '../../../kit/intake/reading/format-settings.ts';
import type { ScoreHeader } from '../../../kit/intake/reading/header-search.ts';
import { noNames } from '../../../kit/intake/reading/json-shape.ts';
import { PlainLines } from '../../../kit/intake/reading/plain-lines.ts';
import { headOf, readPacked } from '../../../kit/intake/reading/read-packed.ts';
import { assertText, withoutMark, type ReadingOptions } from '../../../kit/intake/reading/record-reader.ts';
import { recognize, recognizePacking, type Packing } from '../../../kit/intake/reading/recognize.ts';
import { UnusableFile, type FileProblem, type RecordSink } from '../../../kit/intake/reading/record-sink.ts';
import { longLineBytes, TextCheck } from '../../../kit/intake/reading/text-check.ts';
import type { FileLines, LandingFile } from '../landing-file.ts';
import { LineFile, TooManyBytes } from './line-file.ts';
import { assertLineLength, mapLines, nullTextsIn, type LandingMapping } from './map-lines.ts';
import { MappedTable } from './mapped-table.ts';
import { setLongLinesApart } from './long-lines.ts';
import { recordNamesBy, recordNamesOf } from './record-names.ts';

export type ConvertibleFile = Pick<LandingFile, 'kind' | 'absolutePath' | 'bytes'>;

export interface ConvertedFile extends FileLines {
  problem: FileProblem | undefined;
  /** The last line has an end. */
  endsLine: boolean;
}

export interface Converting {
  /** Bytes that a packed file, a document or the records of a table may come to. */
  maxUnpackedBytes: number;
  /** Called with the file's bytes as they lie there, each once. */
  onBytes: (bytes: Buffer) => void;
  /** How its records are read where they are not ours. */
  mapping?: LandingMapping | undefined;
  /** Finds a header below titles; landing reads what its settings say. */
  score?: ScoreHeader | undefined;
  stop?: AbortSignal | undefined;
}

/** A file whose lines are those of the landing file itself. */
export function asLines({ absolutePath }: Pick<LandingFile, 'absolutePath'>): FileLines {
  return {
    format: 'ndjson',
    readablePath: absolutePath,
    firstRow: 1,
    columns: null,
    nullTexts: new Map(),
    unterminatedRow: null,
    longLines: [],
  };
}

/**
 * Makes lines of a file, one record each: of what is packed, of JSON documents, CSV, XML and workbooks, of text in
 * another encoding, and of lines that have carriage returns, a byte order mark or what the line reader cuts at. Its
 * first bytes tell what it is. No more than a chunk and a record is held in memory. Throws `UnusableFile` at the first
 * byte that makes the file so, `StoppedError` once `stop` is aborted, and what the file system has to say.
 */
export async function toNdjson(
  file: ConvertibleFile,
  scratchPath: string,
  converting: Converting,
): Promise<ConvertedFile> {
  const { mapping } = converting;
  const names = mapping === undefined ? recordNamesOf(file.kind) : (mapping.names ?? recordNamesBy(mapping.mapping));
  const settings = mapping?.mapping.format ?? {};
  const head = headOf(file.absolutePath);
  const recognized = recognize(head, file.bytes <= head.length, settings, names);
  const options = { settings, names, score: converting.score };
  const { packing } = recognized;
  if (file.bytes === 0) assertNotPacked(file.absolutePath);
  if (packing !== 'none') return unfold(file, { packing, isBounded: true }, scratchPath, converting, options);
  const { form } = recognized;
  // Its lines are known, and mapped, once DuckDB has read it.
  if (form.format === 'parquet') return checkLines(file, 'parquet', scratchPath, { ...converting, mapping: undefined });
  const { format, encoding } = assertText(form);
  return format === 'ndjson' && encoding === 'utf-8'
    ? checkLines(file, format, scratchPath, converting)
    : unfold(file, { packing, isBounded: format !== 'csv' }, scratchPath, converting, options);
}

const packedName = /\.(gz|zst|bz2|zip)$/i;
const packingOfEnding: Record<string, Packing> = { gz: 'gzip', zst: 'zstd', bz2: 'bzip2', zip: 'zip' };

/** Whatever is packed has bytes. */
function assertNotPacked(path: string): void {
  const packing = packingOfEnding[packedName.exec(path)?.[1]?.toLowerCase() ?? ''];
  if (packing !== undefined)
    throw new UnusableFile({ reason: `broken_${packing}`, detail: `the ${packing} has no bytes` });
}

/** Returns whether a file is CSV that is not packed, by its first bytes. False where it cannot be opened. */
export function isUnpackedCsv({ kind, absolutePath, bytes }: ConvertibleFile): boolean {
  try {
    const head = headOf(absolutePath);
    const recognized = recognize(head, bytes <= head.length, {}, recordNamesOf(kind));
    return recognized.packing === 'none' && recognized.form.format === 'csv';
  } catch {
    return false;
  }
}

/** Checks a file that can be read in place. Lines are copied where the line reader stumbles over one. */
async function checkLines(
  file: ConvertibleFile,
  format: 'ndjson' | 'parquet',
  scratchPath: string,
  { onBytes, mapping, stop }: Converting,
): Promise<ConvertedFile> {
  const text = new TextCheck(format);
  await readThrough(file.absolutePath, (chunk) => {
    assertNotStopped(stop, stoppedReading);
    onBytes(chunk);
    text.see(chunk);
    if (text.problemSoFar !== undefined) throw new UnusableFile(text.problemSoFar);
  });
  const lines: FileLines = { ...asLines(file), format };
  const problem = file.bytes === 0 ? undefined : text.problem();
  // The engine takes the ending of a name for what a file is.
  const canBeRead = text.isPlain && !packedName.test(file.absolutePath);
  if (problem === undefined && format === 'ndjson' && !canBeRead)
    lines.readablePath = await copyPlain(file.absolutePath, `${scratchPath}.ndjson`);
  const read = { ...lines, problem, endsLine: text.endsLine };
  return withoutLongLines(file, scratchPath, read, text.longestLine, mapping);
}

interface Unfolding {
  packing: Packing;
  /** Its text may not be longer than what is allowed. */
  isBounded: boolean;
}

async function unfold(
  file: ConvertibleFile,
  { packing, isBounded }: Unfolding,
  scratchPath: string,
  converting: Converting,
  options: ReadingOptions,
): Promise<ConvertedFile> {
  const { maxUnpackedBytes, onBytes, mapping, stop } = converting;
  const rows = mapping !== undefined && MappedTable.canMap(mapping) ? new MappedTable(mapping) : undefined;
  const lines = new LineFile(`${scratchPath}.ndjson`);
  let bytes = 0;
  const check = (chunk: Buffer) => {
    assertNotStopped(stop, stoppedReading);
    bytes += chunk.length;
    if (isBounded && bytes > maxUnpackedBytes) throw new TooManyBytes();
    // Names of columns may make long records of a few commas.
    lines.limit = maxUnpackedBytes + 4 * bytes;
  };
  try {
    const { longestLine, ...facts } = await readPacked(file.absolutePath, packing, lines, {
      onBytes,
      check,
      options: { ...options, rows },
    });
    lines.finish();
    const unfolded: ConvertedFile = { ...facts, readablePath: lines.path, longLines: [] };
    if (mapping === undefined || rows === undefined || facts.format !== 'csv')
      return await withoutLongLines(file, scratchPath, unfolded, Math.max(longestLine, lines.longest), mapping);
    assertLineLength(lines);
    const mapped = {
      passedOver: rows.passedOver,
      warnings: new Map(),
      absent: rows.absent,
      recordsBy: options.settings,
    };
    const nullTexts = nullTextsIn(mapping.mapping, facts.nullTexts);
    return await withoutLongLines(file, scratchPath, { ...unfolded, columns: null, nullTexts, mapped }, lines.longest);
  } catch (error) {
    if (!(error instanceof TooManyBytes)) throw error;
    throw new UnusableFile(tooLarge(packing, maxUnpackedBytes));
  } finally {
    lines.close();
  }
}

/**
 * Reads the records of CSV as they lie there, packed or not, into `sink`. Throws as `toNdjson` does, but for the number
 * of bytes: the file was read before.
 */
export async function readRecords(path: string, settings: FormatSettings, sink: RecordSink): Promise<void> {
  const options = { settings, names: noNames };
  await readPacked(path, recognizePacking(headOf(path)), sink, { onBytes: () => {}, check: () => {}, options });
}

function tooLarge(packing: Packing, limit: number): FileProblem {
  const [reason, what, instead] =
    packing === 'none'
      ? ['document_too_large', 'its records take', 'land it in parts, or as lines of JSON']
      : ['unpacked_too_large', 'it unpacks to', 'land it in parts, or unpacked'];
  return {
    reason,
    detail: `${what} more than ${limit} bytes: ${instead}, or raise unpacked_gigabytes in offerline.json`,
  };
}

/** Message of `StoppedError`: a few kilobytes may unpack to gigabytes, so reading ends within a file, too. */
export const stoppedReading =
  'the run was asked to end while it read landing files; nothing of that is kept, and the next run reads them';

/**
 * Gives lines in our fields where a mapping is for them, and the long ones of a log apart. Catalogs are read a line at
 * a time, so that long ones are not in the way. Parquet has no lines yet.
 */
export async function withoutLongLines<File extends FileLines & { problem?: FileProblem | undefined }>(
  { kind, absolutePath }: Pick<ConvertibleFile, 'kind' | 'absolutePath'>,
  scratchPath: string,
  taken: File,
  longest: number,
  mapping?: LandingMapping,
): Promise<File> {
  if (taken.problem !== undefined) return taken;
  if (mapping?.mapping.fields !== undefined || mapping?.mapping.rows !== undefined) {
    const { lines, longest: longestMapped } = await mapLines(taken, mapping, `${scratchPath}-mapped.ndjson`);
    if (taken.readablePath !== absolutePath) await rm(taken.readablePath);
    return withoutLongLines({ kind, absolutePath }, scratchPath, { ...taken, ...lines }, longestMapped);
  }
  if (kind === 'offers' || longest <= longLineBytes) return taken;
  const apart = await setLongLinesApart(taken, scratchPath);
  if (taken.readablePath !== absolutePath) await rm(taken.readablePath);
  return { ...taken, ...apart };
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
