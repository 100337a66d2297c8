import { LineFile } from './line-file.ts';
import type { FileLines } from '../landing-file.ts';
import { maxLineBytes } from '../../../kit/intake/reading/record-sink.ts';
import { longLineBytes } from '../../../kit/intake/reading/text-check.ts';
import { readThrough } from '../../../kit/files/read-through.ts';

/** Bytes of long lines that are read at once; the longest line that we take has room in them. */
const bytesAtOnce = 2 * maxLineBytes;

/**
 * Sets the long lines of a text apart. Gives the text without them, with a blank line in place of each, so that the
 * others keep their numbers, and files of long lines.
 */
export async function setLongLinesApart(
  { readablePath, firstRow }: Pick<FileLines, 'readablePath' | 'firstRow'>,
  scratchPath: string,
): Promise<Pick<FileLines, 'readablePath' | 'longLines'>> {
  const short = new LineFile(`${scratchPath}-short.ndjson`);
  const long: { file: LineFile; rows: number[]; bytes: number }[] = [];
  let row = firstRow;
  let rest: Buffer = Buffer.alloc(0);
  const takeLong = (line: Buffer) => {
    let last = long.at(-1);
    if (last === undefined || last.bytes + line.length > bytesAtOnce) {
      last = { file: new LineFile(`${scratchPath}-long-${long.length}.ndjson`), rows: [], bytes: 0 };
      long.push(last);
    }
    last.file.bytes(line);
    last.file.endLine();
    last.bytes += line.length;
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
