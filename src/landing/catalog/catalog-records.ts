import { open, stat } from 'node:fs/promises';
import { QuarantineError, type CheckedFile, type LandingRecord } from '../landing-file.ts';
import { readThrough } from '../../files/read-through.ts';

/** A catalog's offers are held in memory while they are compared with what is known. */
const maxRecords = 1_000_000;
const chunkBytes = 1024 * 1024;

/** A catalog's records, some at a time. Throws `QuarantineError` before the first of them where there are too many. */
export async function* catalogRecords({ readablePath, firstRow }: CheckedFile): AsyncGenerator<LandingRecord[]> {
  if (await hasTooManyRecords(readablePath)) {
    throw new QuarantineError(
      'too_many_records',
      `a catalog may have ${maxRecords} records: land the offers in the folders of several sources, or declare the source delta and land them in parts`,
    );
  }
  let line = firstRow;
  for await (const lines of linesOf(readablePath))
    yield lines.map((raw) => ({ line: line++, raw })).filter(({ raw }) => !isBlank(raw));
}

/** Counting lines takes a hundredth of the time of reading what they say. */
async function hasTooManyRecords(path: string): Promise<boolean> {
  // Each has a byte at least, and a line end.
  if ((await stat(path)).size < 2 * maxRecords) return false;
  let records = 0;
  let isBlankSoFar = true;
  await readThrough(path, (chunk) => {
    for (const byte of chunk) {
      if (byte === 0x0a) isBlankSoFar = true;
      else if (isBlankSoFar && byte !== 0x20) {
        isBlankSoFar = false;
        records++;
      }
    }
  });
  return records > maxRecords;
}

async function* linesOf(path: string): AsyncGenerator<string[]> {
  const file = await open(path);
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const { bytesRead } = await file.read(chunk, 0, chunkBytes);
      if (bytesRead === 0) break;
      const text: Buffer =
        rest.length > 0 ? Buffer.concat([rest, chunk.subarray(0, bytesRead)]) : chunk.subarray(0, bytesRead);
      const lines: string[] = [];
      let start = 0;
      // Parts of one large string would keep all of it in memory.
      for (let end = text.indexOf(0x0a, rest.length); end >= 0; end = text.indexOf(0x0a, start)) {
        lines.push(text.toString('utf8', start, end));
        start = end + 1;
      }
      rest = text.subarray(start);
      yield lines;
    }
    if (rest.length > 0) yield [rest.toString('utf8')];
  } finally {
    await file.close();
  }
}

function isBlank(text: string): boolean {
  return /^\p{Zs}*$/u.test(text);
}
