import type { Moment } from '../../../kit/time/moment.ts';
import { analyticsFile } from '../manifest.ts';

export const readmeFile = 'README.txt';

/** Returns what a snapshot's folder says of itself to who finds it somewhere. */
export function readmeText(snapshotId: string, asOf: Moment): string {
  return `Snapshot ${snapshotId} of offerline, as of ${asOf}.

${analyticsFile} opens in DuckDB 1.4.2 or newer, read-only:

    duckdb -readonly ${analyticsFile}

Where this folder was published, all tables answer at once. Copied or moved, name its place first, with its whole path:

    SET VARIABLE offerline = '/where/it/is/${snapshotId}';

A folder whose path has [, * or ? in it writes these as [[], [*] and [?]. The path may also be an address of a web
server or a bucket (https://..., s3://...) where DuckDB's httpfs is loaded.

Tables and columns say what they are:  SELECT table_name, comment FROM duckdb_tables() UNION ALL
                                       SELECT view_name, comment FROM duckdb_views() WHERE NOT internal;
manifest.json has the SHA-256 of every file. Nothing here ever changes.
`;
}
