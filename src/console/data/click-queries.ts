import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { hashedKey } from '../../pipeline/clicks/click-bloom-filter.ts';
import { ClickFileIndex } from '../../pipeline/clicks/click-file-index.ts';
import { clickFilesOf, type ClickFile, type ClickFiles } from '../../pipeline/clicks/click-files.ts';
import { clicksIn, rowsIn } from '../../pipeline/clicks/click-queries.ts';
import { modelQuery } from '../../pipeline/sql/model-query.ts';
import type { Answer, ConsoleRow, ConsoleSnapshot, ConsoleStatement } from './console-snapshot.ts';

type Relation = keyof ClickFiles;

/** Asks `sql/console/<statement>.sql`, which reads `relation` and has no WITH of its own. */
type ClickQuestion = <Name extends ConsoleStatement>(
  statement: Name,
  relation: Relation,
) => Promise<Answer<ConsoleRow<Name>>>;

/** Room for sixty days of a million clicks. */
const maxIndexBytes = 96 * 1024 * 1024;
/** What this process knows of event files: the next snapshot has nearly all of them as well. */
const index = new ClickFileIndex(maxIndexBytes);
/** The newest snapshot whose files the index has learnt, or is learning. */
let learnt: { snapshot: ConsoleSnapshot; stop: AbortController } | undefined;

/**
 * How to ask for one click in those of a snapshot's files that may have it: a view over sixty days opens every one of
 * them, which takes most of a second. The first question has the index learn, in the background, which files lack which
 * clicks; until then views are asked.
 */
export async function clickQuestions(
  clickId: string,
  snapshot: ConsoleSnapshot,
  data: DataDirectory,
): Promise<ClickQuestion> {
  const files = await clickFilesOf(join(data.published, snapshot.id), 'event_key');
  learn(files, snapshot);
  const key = hashedKey(clickId);
  return (statement, relation) => {
    const query = modelQuery('console', statement, { as_of: snapshot.asOf, click_id: clickId });
    const all = files[relation];
    const asked = index.filesThatMayHave(all, key);
    if (asked.length === all.length) return snapshot.askSql(query);
    // Where no file has it, one is asked all the same: it has the columns.
    const paths = (asked.length > 0 ? asked : all.slice(0, 1)).map(({ path }) => path);
    const within = relation === 'clicks' ? clicksIn(paths) : rowsIn(paths);
    return snapshot.askSql(`WITH ${relation} AS (FROM ${within})\n${query}`);
  };
}

function learn({ clicks, conversions, postbacks }: ClickFiles, snapshot: ConsoleSnapshot): void {
  if (learnt !== undefined && learnt.snapshot.asOf >= snapshot.asOf) return;
  learnt?.stop.abort();
  learnt = { snapshot, stop: new AbortController() };
  const files: ClickFile[] = [...conversions, ...postbacks, ...clicks.toReversed()];
  // What it cannot read stays unknown to it: the question that needs it tells what is wrong.
  void index.learn(files, AbortSignal.any([learnt.stop.signal, snapshot.retired])).catch(() => undefined);
}
