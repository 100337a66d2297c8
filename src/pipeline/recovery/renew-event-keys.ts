import { join, relative } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Effects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { eventKey } from '../../kit/vocabulary/event-key.ts';
import { quoted } from '../../kit/text/sql-text.ts';
import { eventOrder, eventRelation, eventRowGroupRows, promoteFile } from '../warehouse/event-files.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { requestBackup } from '../warehouse/state-copies.ts';

/**
 * Rewrites the event files of a warehouse from before 2026-11-22, with keys that every engine computes alike. Takes a
 * second for some hundred thousand events, once. One transaction renames all rows, so a killed run changes nothing. The
 * next run sweeps the old files.
 */
export async function renewEventKeys(
  { data, logger, effects }: { data: DataDirectory; logger: Logger; effects: Effects },
  state: StateDatabase,
): Promise<void> {
  const { connection, db } = state;
  const old = await db.selectFrom('event_files').selectAll().where('has_old_keys', '=', true).orderBy('path').execute();
  if (old.length === 0) return;
  logger.info({ files: old.length }, 'event files are written again with keys that every engine computes alike');
  await requestBackup(data, effects.files);
  await effects.files.makeDirectory(data.scratch);
  const renewed: { from: string; path: string; bytes: number; sha256: string }[] = [];
  for (const [index, { path, kind, form }] of old.entries()) {
    const scratch = join(data.scratch, 'renewed-keys.parquet');
    const target = join(data.warehouse, path.replace(/\.parquet$/, '-keys.parquet'));
    const order = form === null ? '' : `ORDER BY ${eventOrder[kind]}`;
    await effects.perform('renewed keys: written', () =>
      connection.run(
        `COPY (SELECT * FROM (SELECT * REPLACE (${eventKey[kind]} AS event_key)
                              FROM ${eventRelation(kind, [join(data.warehouse, path)])}) ${order})
         TO ${quoted(scratch)} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE ${eventRowGroupRows})`,
      ),
    );
    const file = await promoteFile(scratch, target, 'renewed keys', effects.files);
    renewed.push({ from: path, path: relative(data.warehouse, target), ...file });
    if ((index + 1) % 100 === 0) logger.info({ files: index + 1, of: old.length }, 'event files written again');
  }
  await state.transaction(async () => {
    for (const { from, ...file } of renewed)
      await db
        .updateTable('event_files')
        .set({ ...file, has_old_keys: null })
        .where('path', '=', from)
        .execute();
  }, 'renewed keys');
}
