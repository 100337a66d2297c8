import type { DuckDBConnection } from '@duckdb/node-api';
import { sql } from 'kysely';
import { UsageError } from '../../../kit/errors/errors.ts';
import type { CheckedFile } from '../../landing/landing-file.ts';
import { bumpRevision, deleteMetadata, readMetadata, writeMetadata } from '../../warehouse/metadata.ts';
import { kyselyOn } from '../../warehouse/kysely.ts';
import type { FileAge } from './catalog-files.ts';

/** An export that waits for an operator, since it would remove most of its source's offers. */
export interface WaitingExport {
  fileId: number;
  source: string;
  path: string;
  sha256: string;
  rows: number;
  /** Says how many offers it would remove. */
  reason: string;
}

/** Exports that are held now, by source and then age. */
export async function heldExports(connection: DuckDBConnection): Promise<WaitingExport[]> {
  return (
    kyselyOn(connection)
      .selectFrom('ingest_files')
      .select(['file_id as fileId', 'source', 'path', 'sha256', 'rows', 'reason'])
      .where('kind', '=', 'offers')
      .where('status', '=', 'held')
      .orderBy('source')
      .orderBy('modified_ns')
      .orderBy('path')
      // A held export has a source, and the reason why.
      .$castTo<WaitingExport>()
      .execute()
  );
}

/** Throws `UsageError` where no export of that id is held. */
export async function heldExport(connection: DuckDBConnection, fileId: number): Promise<WaitingExport> {
  const held = (await heldExports(connection)).find((file) => file.fileId === fileId);
  if (held === undefined)
    throw new UsageError(`No export with file id ${fileId} is held; \`offerline offers held\` lists those that are`);
  return held;
}

/**
 * Releases a held export: the next run ingests the file as if it were new and lets it remove what it removes.
 * For that its ledger rows are deleted, and the approval is stored until then. To be run in a transaction.
 * Throws `UsageError` where no export of that id is held.
 */
export async function acceptHeldExport(connection: DuckDBConnection, fileId: number): Promise<WaitingExport> {
  const held = await heldExport(connection, fileId);
  await writeMetadata(connection, approvalKey(held), held.path);
  const db = kyselyOn(connection);
  await db.deleteFrom('landing_seen').where('path', '=', held.path).execute();
  for (const table of ['rejects', 'ingest_warnings', 'ingest_files'] as const)
    await db.deleteFrom(table).where('file_id', '=', fileId).execute();
  await bumpRevision(connection);
  return held;
}

/** Returns whether an operator accepted what this file removes. */
export async function isAccepted(
  connection: DuckDBConnection,
  file: Pick<CheckedFile, 'source' | 'sha256'>,
): Promise<boolean> {
  return (await readMetadata(connection, approvalKey(file))) !== undefined;
}

/** The approval holds once: a later export with the same bytes is checked again. */
export async function dropApproval(
  connection: DuckDBConnection,
  file: Pick<CheckedFile, 'source' | 'sha256'>,
): Promise<void> {
  await deleteMetadata(connection, approvalKey(file));
}

/** An export that was loaded replaces the older ones that are still held; what was counted of them stays. */
export async function replaceHeldExports(connection: DuckDBConnection, source: string, loaded: FileAge): Promise<void> {
  await kyselyOn(connection)
    .updateTable('ingest_files')
    .set({ status: 'superseded', reason: 'replaced_by_newer' })
    .where('kind', '=', 'offers')
    .where('status', '=', 'held')
    .where('source', '=', source)
    .where(sql<boolean>`(modified_ns, path) <= (${loaded.modifiedNs}, ${loaded.path})`)
    .execute();
}

function approvalKey({ source, sha256 }: { source: string | null; sha256: string }): string {
  return `accepted_export:${source}:${sha256}`;
}
