/** How the records of a landing file are written, as its ending says. */
export type LandingFormat = 'json' | 'ndjson' | 'csv' | 'parquet';

const formatsByEnding: Record<string, LandingFormat> = {
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
  parquet: 'parquet',
};

/** Names that are not looked at, so that whoever writes can rename a file when it is whole. */
export function isUnfinishedName(name: string): boolean {
  return /^[._]|\.(tmp|part)$/.test(name);
}

/** What a name's ending says; undefined for one that we do not read. */
export function formatOf(name: string): { format: LandingFormat; gzip: boolean } | undefined {
  const match = /\.([a-z]+?)(\.gz)?$/.exec(name.toLowerCase());
  const format = formatsByEnding[match?.[1] ?? ''];
  const gzip = match?.[2] !== undefined;
  return format === undefined || (gzip && format === 'parquet') ? undefined : { format, gzip };
}
