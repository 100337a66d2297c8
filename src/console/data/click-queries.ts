import { basename, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { dayOf } from '../../kit/time/moment.ts';
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

/** The newest clicks from `since`, a moment, up to as-of; `user` and `site` empty for all. */
export async function recentClicks(
  snapshot: ConsoleSnapshot,
  data: DataDirectory,
  filter: { since: string; user: string; site: string },
): Promise<StatementResult<ConsoleRow<'recent_clicks'>>> {
  const { events } = await clickFilesOf(join(data.published, snapshot.id));
  const [first, last] = [dayOf(filter.since), dayOf(snapshot.asOf)];
  const ofDays = events.filter((path) => dayOfFile(path) >= first && dayOfFile(path) <= last);
  // Where these days have no clicks, one file is queried all the same, for its columns.
  const queried = ofDays.length > 0 ? ofDays : events.slice(-1);
  const sql = modelQuery('console', 'recent_clicks', { as_of: snapshot.asOf, ...filter });
  const found = await snapshot.askSql<ConsoleRow<'recent_clicks'>>(
    queried.length > 0 ? `WITH clicks AS (FROM ${clicksIn(queried)})\n${sql}` : sql,
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
