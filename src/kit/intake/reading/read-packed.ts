import { closeSync, openSync, readSync } from 'node:fs';
import { readThrough } from '../../files/read-through.ts';
import { headBytes, type Packing } from './recognize.ts';
import { RecordReader, type ReadingOptions, type ReadText } from './record-reader.ts';
import type { RecordSink } from './record-sink.ts';
import { unpack, unpackZip } from './unpack.ts';
import { readSheet } from './workbook/sheet-records.ts';
import { isWorkbook } from './workbook/workbook.ts';
import { ZipMembers } from './zip-members.ts';

interface PackedReading {
  /** Called with the file's bytes as they lie there, each once. */
  onBytes: (bytes: Buffer) => void;
  /** Sees what is unpacked before it is read; throws where it is too much. */
  check: (chunk: Buffer) => void;
  options: ReadingOptions;
}

/** Reads a file's first bytes at once: it is opened again later, and most files are small. */
export function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.allocUnsafe(headBytes);
    return head.subarray(0, readSync(file, head, 0, headBytes, 0));
  } finally {
    closeSync(file);
  }
}

/**
 * Reads a file of text, packed or not, or a workbook, into records. Throws `UnusableFile` for what is neither, and what
 * `check` and the file system throw.
 */
export async function readPacked(
  path: string,
  packing: Packing,
  sink: RecordSink,
  { onBytes, check, options }: PackedReading,
): Promise<ReadText> {
  if (packing === 'zip') {
    await readThrough(path, onBytes);
    return readZip(path, sink, { check, options });
  }
  const reader = new RecordReader(sink, options);
  const take = (chunk: Buffer) => {
    check(chunk);
    reader.take(chunk);
  };
  if (packing === 'none') {
    await readThrough(path, (chunk) => {
      onBytes(chunk);
      take(chunk);
    });
  } else await unpack(path, packing, { onBytes, take });
  return reader.finish();
}

/** Reads a workbook, or the only member of a zip. Members are found by a list at the file's end. */
async function readZip(
  path: string,
  sink: RecordSink,
  { check, options }: Pick<PackedReading, 'check' | 'options'>,
): Promise<ReadText> {
  const members = await ZipMembers.open(path);
  try {
    if (isWorkbook(members)) {
      const sheet = await readSheet(members, sink, { ...options, check });
      return { ...asWorkbook, ...sheet, longestLine: sink.longest };
    }
    const reader = new RecordReader(sink, options);
    await unpackZip(members, (chunk) => {
      check(chunk);
      reader.take(chunk);
    });
    return reader.finish();
  } finally {
    members.close();
  }
}

const asWorkbook = {
  format: 'xlsx',
  problem: undefined,
  unterminatedRow: null,
  endsLine: true,
} as const;
