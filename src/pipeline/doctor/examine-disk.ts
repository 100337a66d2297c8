import type { DuckDBConnection } from '@duckdb/node-api';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { modifiedNsOf } from '../../kit/files/file-version.ts';
import { sha256Of } from '../../kit/files/read-through.ts';
import { currentName, snapshotNames } from '../snapshot/snapshot-store.ts';
import { manifestFile } from '../snapshot/manifest.ts';
import { DamagedSnapshotError, verifyOwnFiles, verifySnapshot } from '../snapshot/verify.ts';
import { findDatabaseDamage } from '../../kit/duckdb/check-database.ts';
import { kyselyOn } from '../warehouse/kysely.ts';
import { stateCopies } from '../warehouse/state-copies.ts';
import { note, trouble, type Finding } from './finding.ts';

/** Checks published snapshots against their manifests. `deep` reads every file, otherwise the current one's own. */
export async function examineSnapshots(
  data: DataDirectory,
  deep: boolean,
): Promise<{ findings: Finding[]; damaged: string[] }> {
  const findings: Finding[] = [];
  const damaged: string[] = [];
  const current = await currentName(data);
  const folders = await snapshotNames(data);
  for (const name of folders) {
    const folder = join(data.published, name);
    try {
      if (deep) await verifySnapshot(folder);
      else if (name === current) await verifyOwnFiles(folder);
      else await stat(join(folder, manifestFile));
    } catch (error) {
      if (!(error instanceof DamagedSnapshotError) && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      damaged.push(name);
      findings.push(
        trouble(
          'snapshots',
          folder,
          (error as Error).message,
          name === current
            ? 'a new one takes its place; until then the service goes on with the one that it has open'
            : 'it is moved to put-aside/; nobody is served from it',
        ),
      );
    }
  }
  if (current === undefined ? folders.length > 0 : !folders.includes(current)) {
    findings.push(
      trouble(
        'snapshots',
        data.current,
        current === undefined ? 'is missing' : `names ${current}, which is not there`,
        'it is switched to the newest whole snapshot that is not ahead of the clock; without one a new one is published',
      ),
    );
  }
  return { findings, damaged };
}

/** Checks that there is a good copy of the state; `deep` reads all copies. */
export async function examineCopies(
  data: DataDirectory,
  deep: boolean,
): Promise<{ findings: Finding[]; damaged: string[] }> {
  const copies = await stateCopies(data);
  const findings: Finding[] = [];
  const damaged: string[] = [];
  for (const { path } of deep ? copies : []) {
    const error = await findDatabaseDamage(path);
    if (error === undefined) continue;
    damaged.push(path);
    findings.push(trouble('copies', path, error.message, 'it is moved to put-aside/'));
  }
  if (copies.length === damaged.length && (await stat(data.current).catch(() => undefined)) !== undefined) {
    findings.push(
      note('copies', data.stateCopies, 'there is no good copy of the state', 'the next run that publishes makes one'),
    );
  }
  return { findings, damaged };
}

/** Finds landing files whose bytes changed under the same size and time, and counts those that are gone. */
export async function examineLanding(
  data: DataDirectory,
  connection: DuckDBConnection,
  { deep, onRead }: { deep: boolean; onRead: (bytes: number) => void },
): Promise<Finding[]> {
  const seen = await kyselyOn(connection)
    .selectFrom('landing_seen')
    .select((file) => ['path', 'bytes', file.cast<string>('modified_ns', 'text').as('modified_ns'), 'sha256'])
    .orderBy('path')
    .execute();
  const findings: Finding[] = [];
  let gone = 0;
  for (const { path, bytes, modified_ns, sha256 } of seen) {
    const file = join(data.landing, path);
    const about = await stat(file, { bigint: true }).catch(() => undefined);
    if (about === undefined) gone++;
    // A file with another size or time is new to the next run.
    else if (
      deep &&
      about.size === BigInt(bytes) &&
      String(modifiedNsOf(about)) === modified_ns &&
      (await sha256Of(file)) !== sha256
    ) {
      findings.push(
        note(
          'landing',
          path,
          'has other bytes than when it was read, under the same size and time',
          'the rows that were read stay; compare the file with its sender’s, and land a good copy under a new name if it should count',
        ),
      );
    }
    onRead(bytes);
  }
  if (gone > 0)
    findings.push(
      note(
        'landing',
        data.landing,
        `${gone} of ${seen.length} files that were read are not there any more`,
        'nothing needs them as long as the warehouse is whole; keep them elsewhere for `offerline rebuild --from-landing`',
      ),
    );
  return findings;
}
