import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { hashedKey } from '../../pipeline/clicks/click-bloom-filter.ts';
import { ClickFileIndex } from '../../pipeline/clicks/click-file-index.ts';
import { clickFilesOf, type ClickFile, type ClickFiles } from '../../pipeline/clicks/click-files.ts';
import { clicksIn, rowsIn } from '../../pipeline/clicks/click-queries.ts';
import { modelQuery } from '../../pipeline/sql/model-query.ts';
import type { StatementResult, ConsoleRow, ConsoleSnapshot, ConsoleStatement } from './console-snapshot.ts';

type Relation = keyof ClickFiles;

/** Runs `sql/console/<statement>.sql`, which reads `relation` and has no WITH of its own. */
type ClickQuery = <Name extends ConsoleStatement>(
  statement: Name,
  relation: Relation,
) => Promise<StatementResult<ConsoleRow<Name>>>;

/** Sixty days of a million clicks fit in. */
const maxIndexBytes = 96 * 1024 * 1024;
/** Shared by snapshots, which have nearly all event files in common. */
const index = new ClickFileIndex(maxIndexBytes);
/** The newest snapshot whose files are in the index, or on the way into it. */
let indexed: { snapshot: ConsoleSnapshot; stop: AbortController } | undefined;

/**
 * Returns a function that queries one click in those files of a snapshot that may have it: a view over sixty days opens
 * every file, which takes most of a second. The first call starts to index the files in the background; until that is
 * done the views are queried.
 */
export async function clickQueries(
  clickId: string,
  snapshot: ConsoleSnapshot,
  data: DataDirectory,
): Promise<ClickQuery> {
  const files = await clickFilesOf(join(data.published, snapshot.id));
  indexFiles(files, snapshot);
  const key = hashedKey(clickId);
  return (statement, relation) => {
    const query = modelQuery('console', statement, { as_of: snapshot.asOf, click_id: clickId });
    const all = files[relation];
    const candidates = index.filesThatMayHave(all, key);
    if (candidates.length === all.length) return snapshot.askSql(query);
    // Where no file has the click, one file is queried all the same, for its columns.
    const paths = (candidates.length > 0 ? candidates : all.slice(0, 1)).map(({ path }) => path);
    const within = relation === 'clicks' ? clicksIn(paths) : rowsIn(paths);
    return snapshot.askSql(`WITH ${relation} AS (FROM ${within})\n${query}`);
  };
}

function indexFiles({ clicks, conversions, postbacks }: ClickFiles, snapshot: ConsoleSnapshot): void {
  if (indexed !== undefined && indexed.snapshot.asOf >= snapshot.asOf) return;
  indexed?.stop.abort();
  indexed = { snapshot, stop: new AbortController() };
  const files: ClickFile[] = [...conversions, ...postbacks, ...clicks.toReversed()];
  // A file that cannot be read stays out of the index; the query that needs the file reports the error.
  void index.learn(files, AbortSignal.any([indexed.stop.signal, snapshot.retired])).catch(() => undefined);
}
