import { LineFile } from './line-file.ts';
import type { FileLines } from '../landing-file.ts';
import { maxLineBytes } from '../../../kit/intake/reading/record-sink.ts';
import { longLineBytes } from '../../../kit/intake/reading/text-check.ts';
import { readThrough } from '../../../kit/files/read-through.ts';

/** Weight of long lines that are read at once; the longest text that we take has room in it. */
const weightAtOnce = 2 * maxLineBytes;
/** Weight of a value: the engine looks into a line a dozen times, and takes 16 bytes or more for a value each time. */
const valueWeight = 128;
/** Each is beside a value. */
const [comma, openBracket, openBrace] = [0x2c, 0x5b, 0x7b];

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
  const takeLong = (line: Buffer) => {
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
