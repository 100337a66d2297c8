/** Endings of names that are meant to be read; what a file is, its bytes tell. */
const textEndings = ['json', 'ndjson', 'jsonl', 'csv', 'tsv', 'txt'];
/** Packed in themselves. */
const tableEndings = ['parquet', 'xlsx'];
const packed = String.raw`(?:\.(?:gz|zst|bz2|zip))?`;
const readable = new RegExp(String.raw`\.(?:(?:${textEndings.join('|')})${packed}|${tableEndings.join('|')})$`, 'i');
const xml = new RegExp(String.raw`\.xml${packed}$`, 'i');

/** The endings as a message names them. */
export const readableEndings = [...textEndings, ...tableEndings].map((ending) => `.${ending}`).join(' ');

/** True for names that landing ignores, so that a writer can rename its file when it is complete. */
export function isUnfinishedName(name: string): boolean {
  return /^[._]|\.(tmp|part)$/.test(name);
}

/**
 * True for names that are meant to be read. `isMapped`: a mapping says where the records of the file are, without which
 * XML is not read.
 */
export function isReadableName(name: string, isMapped = false): boolean {
  return readable.test(name) || (isMapped && xml.test(name));
}

/** True for names of Parquet, whose folders may name columns. */
export function isParquetName(name: string): boolean {
  return /\.parquet$/i.test(name);
}

/** Returns a readable name's ending, with its dots; empty where it has none. */
export function endingOf(name: string): string {
  return (readable.exec(name) ?? xml.exec(name))?.[0] ?? '';
}
