import { basename, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { clickFilesOf, eventFilesOfClick } from '../../pipeline/clicks/click-files.ts';
import { clicksIn } from '../../pipeline/clicks/click-queries.ts';
import { modelQuery } from '../../pipeline/sql/model-query.ts';
import type { StatementResult, ConsoleRow, ConsoleSnapshot, ConsoleStatement } from './console-snapshot.ts';

type Relation = 'clicks' | 'conversions' | 'postbacks';

/** Runs `sql/console/<statement>.sql`, which reads `relation` and has no WITH of its own. */
type ClickQuery = <Name extends ConsoleStatement>(
  statement: Name,
  relation: Relation,
) => Promise<StatementResult<ConsoleRow<Name>>>;

/** The newest clicks; `since` a moment, `user` and `site` empty for all. Of the two newest days with clicks. */
export async function recentClicks(
  snapshot: ConsoleSnapshot,
  data: DataDirectory,
  filter: { since: string; user: string; site: string },
): Promise<StatementResult<ConsoleRow<'recent_clicks'>>> {
  const { events } = await clickFilesOf(join(data.published, snapshot.id));
  const days = [...new Set(events.map(dayOfFile))].toSorted().slice(-2);
  const newest = events.filter((path) => days.includes(dayOfFile(path)));
  const sql = modelQuery('console', 'recent_clicks', { as_of: snapshot.asOf, ...filter });
  const found = await snapshot.askSql<ConsoleRow<'recent_clicks'>>(
    newest.length > 0 ? `WITH clicks AS (FROM ${clicksIn(newest)})\n${sql}` : sql,
  );
  // The view of the snapshot gives the same rows, from more files.
  return { ...found, sql };
}

function dayOfFile(path: string): string {
  return basename(path).slice(0, 'YYYY-MM-DD'.length);
}

/**
 * Returns a function that queries one click in those event files of a snapshot that may have it: a view over sixty days
 * opens every file, which takes most of a second.
 */
export async function clickQueries(
  clickId: string,
  snapshot: ConsoleSnapshot,
  data: DataDirectory,
): Promise<ClickQuery> {
  const files = await clickFilesOf(join(data.published, snapshot.id));
  const holding = eventFilesOfClick(files, clickId);
  // Where no file has the click, one file is queried all the same, for its columns.
  const queried = holding.length > 0 ? holding : files.events.slice(0, 1);
  return (statement, relation) => {
    const query = modelQuery('console', statement, { as_of: snapshot.asOf, click_id: clickId });
    return snapshot.askSql(
      relation === 'clicks' && queried.length > 0 ? `WITH clicks AS (FROM ${clicksIn(queried)})\n${query}` : query,
    );
  };
}
