import { LineFile } from './line-file.ts';
import type { FileLines } from '../landing-file.ts';
import { maxLineBytes } from '../../../kit/intake/reading/record-sink.ts';
import { longLineBytes } from '../../../kit/intake/reading/text-check.ts';
import { readThrough } from '../../../kit/files/read-through.ts';

/** Weight of long lines that are read at once; the longest text that we take has room in it. */
const weightAtOnce = 2 * maxLineBytes;
/** Weight of a value: the engine looks into a line a dozen times, and takes 16 bytes or more for a value each time. */
const valueWeight = 128;
/** Bytes of a list or an object in a line from which on it is left out. */
const maxNestedBytes = 100_000;
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Sets the long lines of a text apart. Gives the text without them, with a blank line in place of each, so that the
 * others keep their numbers, and files of long lines.
 */
export async function setLongLinesApart(
  { readablePath, firstRow }: Pick<FileLines, 'readablePath' | 'firstRow'>,
  scratchPath: string,
): Promise<Pick<FileLines, 'readablePath' | 'longLines'>> {
  const short = new LineFile(`${scratchPath}-short.ndjson`);
  const long: { file: LineFile; rows: number[]; weight: number }[] = [];
  let row = firstRow;
  let rest: Buffer = Buffer.alloc(0);
  const takeLong = (whole: Buffer) => {
    const line = whole.length > maxNestedBytes ? withoutLargeNested(whole) : whole;
    const weight = weightOf(line);
    let last = long.at(-1);
    if (last === undefined || last.weight + weight > weightAtOnce) {
      last = { file: new LineFile(`${scratchPath}-long-${long.length}.ndjson`), rows: [], weight: 0 };
      long.push(last);
    }
    last.file.bytes(line);
    last.file.endLine();
    last.weight += weight;
    last.rows.push(row);
  };
  const takeLine = (line: Buffer) => {
    if (line.length > longLineBytes) takeLong(line);
    else short.bytes(line);
    short.endLine();
    row++;
  };
  try {
    await readThrough(readablePath, (chunk) => {
      const text = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      let start = 0;
      for (let end = text.indexOf(0x0a, rest.length); end >= 0; end = text.indexOf(0x0a, start)) {
        takeLine(text.subarray(start, end));
        start = end + 1;
      }
      rest = Buffer.from(text.subarray(start));
    });
    if (rest.length > 0) takeLine(rest);
    for (const { file } of [{ file: short }, ...long]) file.finish();
  } finally {
    for (const { file } of [{ file: short }, ...long]) file.close();
  }
  return { readablePath: short.path, longLines: long.map(({ file, rows }) => ({ path: file.path, rows })) };
}

/** Bytes of a line and the weight of its values. What looks like one within a text counts, too. */
function weightOf(line: Buffer): number {
  let values = 0;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte === comma || byte === openBracket || byte === openBrace) values++;
  }
  return line.length + valueWeight * values;
}

/**
 * A line whose lists and objects of very many bytes hold nothing but how many: no field of a log reads one, and their
 * values would take more memory than there is. One that is not JSON stays, as its line is to be rejected for it.
 */
function withoutLargeNested(line: Buffer): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const [from, to] of largeNested(line)) {
    const value = line.subarray(from, to);
    if (!isJson(value)) continue;
    const size = `"${value.length} bytes"`;
    parts.push(line.subarray(end, from), Buffer.from(value[0] === openBracket ? `[${size}]` : `{${size}:null}`));
    end = to;
  }
  return end === 0 ? line : Buffer.concat([...parts, line.subarray(end)]);
}

/** Where a line's members are lists or objects of very many bytes. */
function largeNested(line: Buffer): [from: number, to: number][] {
  const places: [number, number][] = [];
  let depth = 0;
  let from = 0;
  let isText = false;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte === quote) isText = !isText;
    else if (isText && byte === backslash) at++;
    else if (isText) continue;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth === 2) from = at;
    } else if (byte === closeBracket || byte === closeBrace) {
      if (depth-- === 2 && at - from > maxNestedBytes) places.push([from, at + 1]);
    }
  }
  return places;
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
