import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { constants, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { openRegularFile } from '../../kit/config/regular-file.ts';
import { bareName, knownNames } from '../../kit/intake/known-names.ts';
import { decodeHead, encodingOf } from '../../kit/intake/reading/decode.ts';
import { recognizePacking, type Packing } from '../../kit/intake/reading/recognize.ts';
import { visibleText } from '../../kit/text/visible-text.ts';

/** The first rows of a landing file, or why they cannot be shown. */
export type FileBeginning = { rows: string[]; masked: boolean } | { why: string };

interface LandedFile {
  /** Below the landing folder. */
  path: string;
  kind: string;
  /** Of the file that was read: one of another size has taken its place. */
  bytes: number;
}

/** Bytes that are read, of which packed ones become at most a thousand times as many. */
const maxBytes = 4096;
const maxUnpackedBytes = 8 * 2 ** 20;
const maxRows = 8;
const maxCharacters = 300;

/**
 * Reads the first rows of a file, cut to a bound. Rows of logs hold addresses and agents of people, so of those only
 * names and the characters between values are as they are.
 */
export async function readBeginning(landing: string, { path, kind, bytes }: LandedFile): Promise<FileBeginning> {
  let head: Buffer;
  try {
    const file = await openRegularFile(await within(landing, path));
    try {
      if ((await file.stat()).size !== bytes) return { why: 'another file has its name now' };
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
      head = buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    return { why: `it is not in the landing folder any more, or cannot be read: ${(error as Error).message}` };
  }
  const packing = recognizePacking(head);
  const unpacked = unpackedHead(head, packing);
  if (unpacked === undefined) return { why: `it is packed (${packing}), and its beginning cannot be unpacked` };
  const text = decodeHead(unpacked.subarray(0, maxBytes), encodingOf(unpacked, undefined));
  if (text.includes('\0')) return { why: 'it is no text' };
  const rows = text
    .split(/\r\n|\r|\n/)
    .slice(0, maxRows)
    .map((row) => (row.length > maxCharacters ? `${row.slice(0, maxCharacters)}…` : row));
  const masked = kind !== 'offers';
  return { rows: (masked ? maskedRows(rows) : rows).map(visibleText), masked };
}

/** Throws where a link leads out of the folder. */
async function within(landing: string, path: string): Promise<string> {
  const [folder, file] = [await realpath(landing), await realpath(join(landing, path))];
  if (!file.startsWith(folder + sep)) throw new Error('it is outside of the landing folder');
  return file;
}

function unpackedHead(head: Buffer, packing: Packing): Buffer | undefined {
  if (packing === 'none') return head;
  const bounds = { maxOutputLength: maxUnpackedBytes };
  try {
    if (packing === 'gzip') return gunzipSync(head, { ...bounds, finishFlush: constants.Z_SYNC_FLUSH });
    if (packing === 'zstd') return zstdDecompressSync(head, { ...bounds, finishFlush: constants.ZSTD_e_flush });
  } catch {
    // Damaged from its first block on, or far more than a beginning.
  }
  return undefined;
}

/** Names that fields have in exports; they alone may have digits, as `sub1` has. */
const namesOfExports = new Set(
  Object.values(knownNames)
    .flatMap((fields) => Object.entries(fields).flatMap(([field, names]) => [field, ...Object.keys(names)]))
    .map(bareName),
);
const isKnown = (name: string) => namesOfExports.has(bareName(name));
const isWord = (name: string) => /^[A-Za-z][A-Za-z_ -]{0,39}$/.test(name);
const hasDigit = (text: string) => /\p{N}/u.test(text);

/**
 * Masks values by `x` for each letter and digit. The first row keeps names that exports are known to have; as a header
 * it keeps other words, too: it has no digit and the next row has one, since each row of a log has a moment.
 */
function maskedRows([first = '', ...others]: readonly string[]): string[] {
  if (/^\s*[[{<]/.test(first)) return [first, ...others].map(maskedMembers);
  const nameIn = (cell: string) => cell.trim().replace(/^"(.*)"$/, '$1');
  const names = first.split(/[,;\t|]/).map(nameIn);
  const isHeader =
    names.length > 1 && names.every((name) => isKnown(name) || !hasDigit(name)) && hasDigit(others[0] ?? '');
  const isKept = (name: string) => isKnown(name) || (isHeader && isWord(name));
  const masked = first.replaceAll(/[^,;\t|]+/g, (cell) => (isKept(nameIn(cell)) ? cell : xOf(cell)));
  return [masked, ...others.map(maskedMembers)];
}

/** Masks all of a row but the names of JSON, which are in quotes before a colon. */
function maskedMembers(row: string): string {
  return row.replaceAll(/"([^"\\]*)"(?=\s*:)|[\p{L}\p{N}]/gu, (text, name?: string) =>
    name !== undefined && (isKnown(name) || isWord(name)) ? text : xOf(text),
  );
}

function xOf(text: string): string {
  return text.replaceAll(/[\p{L}\p{N}]/gu, 'x');
}
