import { open, readFile, stat } from 'node:fs/promises';
import { LandingRecord, QuarantineError, type FileLines } from '../landing-file.ts';
import { readThrough } from '../../../kit/files/read-through.ts';
import { maxCatalogRecords } from '../../../kit/vocabulary/offer-bounds.ts';

const chunkBytes = 1024 * 1024;

/**
 * A catalog's records, some at a time; blank lines are none. Throws `QuarantineError` before the first of them where
 * there are too many.
 */
export async function* catalogRecords(file: FileLines): AsyncGenerator<LandingRecord[]> {
  if (await hasTooManyRecords(file.readablePath)) {
    throw new QuarantineError(
      'too_many_records',
      `a catalog may have ${maxCatalogRecords} records: land the offers in the folders of several sources, or declare the source delta and land them in parts`,
    );
  }
  yield* recordsOf(file);
}

/** A file's records with the numbers of their lines, some at a time, but for those of long lines that lie apart. */
export async function* recordsOf({ readablePath, firstRow }: FileLines): AsyncGenerator<LandingRecord[]> {
  let line = firstRow;
  for await (const lines of linesOf(readablePath))
    yield lines.map((bytes) => new LandingRecord(line++, bytes)).filter((record) => !isBlank(record));
}

/** All of a file's records in the order of their lines, some at a time. */
export async function* allRecordsOf(file: FileLines): AsyncGenerator<LandingRecord[]> {
  const long = longRecordsOf(file);
  let next = await long.next();
  for await (const records of recordsOf(file)) {
    let from = 0;
    for (const [index, { line }] of records.entries())
      for (; next.done !== true && next.value.line < line; next = await long.next()) {
        yield [...records.slice(from, index), next.value];
        from = index;
      }
    yield records.slice(from);
  }
  for (; next.done !== true; next = await long.next()) yield [next.value];
}

async function* longRecordsOf({ longLines }: FileLines): AsyncGenerator<LandingRecord, void> {
  for (const { path, rows } of longLines) {
    const text = await readFile(path);
    let start = 0;
    for (const row of rows) {
      const end = text.indexOf(lineFeed, start);
      yield new LandingRecord(row, text.subarray(start, end));
      start = end + 1;
    }
  }
}

const lineFeed = 0x0a;
const space = 0x20;

/** Counting lines takes a hundredth of the time of reading what they say. */
async function hasTooManyRecords(path: string): Promise<boolean> {
  // Each has a byte at least, and a line end.
  if ((await stat(path)).size < 2 * maxCatalogRecords) return false;
  let records = 0;
  let isBlankSoFar = true;
  await readThrough(path, (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (isBlankSoFar) while (chunk[at] === space) at++;
      if (isBlankSoFar && at < chunk.length && chunk[at] !== lineFeed) {
        isBlankSoFar = false;
        records++;
      }
      const end = chunk.indexOf(lineFeed, at);
      if (end < 0) break;
      isBlankSoFar = true;
      at = end + 1;
    }
  });
  return records > maxCatalogRecords;
}

/** Parts of what was read at once, which stays in memory as long as one of them does. */
async function* linesOf(path: string): AsyncGenerator<Buffer[]> {
  const file = await open(path);
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const { bytesRead } = await file.read(chunk, 0, chunkBytes);
      if (bytesRead === 0) break;
      const text: Buffer =
        rest.length > 0 ? Buffer.concat([rest, chunk.subarray(0, bytesRead)]) : chunk.subarray(0, bytesRead);
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = text.indexOf(lineFeed, rest.length); end >= 0; end = text.indexOf(lineFeed, start)) {
        lines.push(text.subarray(start, end));
        start = end + 1;
      }
      rest = text.subarray(start);
      yield lines;
    }
    if (rest.length > 0) yield [rest];
  } finally {
    await file.close();
  }
}

const firstOfObject = '{'.charCodeAt(0);

function isBlank(record: LandingRecord): boolean {
  return record.bytes[0] !== firstOfObject && /^\p{Zs}*$/u.test(record.text);
}
