/** Format of a landing file's records, by its ending. */
export type LandingFormat = 'json' | 'ndjson' | 'csv' | 'parquet';

const formatsByEnding: Record<string, LandingFormat> = {
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
  parquet: 'parquet',
};

/** True for names that landing ignores, so that a writer can rename its file when it is complete. */
export function isUnfinishedName(name: string): boolean {
  return /^[._]|\.(tmp|part)$/.test(name);
}

/** Returns the format by a name's ending; undefined for one that landing does not read. */
export function formatOf(name: string): { format: LandingFormat; gzip: boolean } | undefined {
  const match = /\.([a-z]+?)(\.gz)?$/.exec(name.toLowerCase());
  const format = formatsByEnding[match?.[1] ?? ''];
  const gzip = match?.[2] !== undefined;
  return format === undefined || (gzip && format === 'parquet') ? undefined : { format, gzip };
}
