import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readSettings } from '../../kit/config/settings.ts';
import { UsageError, WarehouseBusyError } from '../../kit/errors/errors.ts';
import { packageVersion } from '../../kit/files/package-files.ts';
import { realEffects, type Effects } from '../../kit/files/effects.ts';
import { acquireProcessLock } from '../../kit/files/process-lock.ts';
import { readThrough } from '../../kit/files/read-through.ts';
import type { Terminal } from '../../kit/logging/progress.ts';
import { compactText, momentOfMilliseconds } from '../../kit/time/moment.ts';
import { withWriterLock } from '../runs/writer-lock.ts';
import { archiveOf } from './archive.ts';
import type { BackupPlace } from './backup-place.ts';
import { backupVersion, knownSchemas, type BackupManifest, type BackupMember } from './backup-manifest.ts';
import type { HeldFile } from './held-files.ts';
import { holdMoment, prepareState, type TrackerLogs } from './hold-moment.ts';
import { leftOutside } from './left-outside.ts';

export interface BackupRequest {
  data: DataDirectory;
  terminal: Terminal;
  to: BackupPlace;
  /** Includes landing files that nothing reads any more. */
  allLanding: boolean;
  tracker: TrackerLogs;
}

/** A backup that was written. */
export interface WrittenBackup {
  place: string;
  manifest: BackupManifest;
  /** Bytes of all members. */
  bytes: number;
}

/**
 * Writes a consistent copy of the data directory, while runs, trackers, pulls and deliveries go on: a run waits only
 * while the files of one moment are held. Throws `WarehouseBusyError` where a run or another backup does not end in
 * time, `UsageError` where the machine has no warehouse of its own or the place cannot take a backup.
 */
export async function takeBackup(request: BackupRequest, effects: Effects = realEffects): Promise<WrittenBackup> {
  const { data, terminal } = request;
  const { logger, progress } = terminal;
  const settings = readSettings(data);
  if (settings.storage?.follow === true)
    throw new UsageError('this machine follows storage and has no warehouse: run the backup where runs are made');
  const now = effects.now();
  const to = await request.to.prepare(`offerline-${compactText(momentOfMilliseconds(now))}.tar`);
  const lock = await acquireProcessLock(
    { name: 'backup', lockFile: data.backupLockFile, busy: (message) => new WarehouseBusyError(message) },
    { command: 'backup', waitSeconds: 0, onWaiting: (message) => logger.info(message) },
  );
  try {
    const { held, about } = await withWriterLock('backup', { data, settings, logger, effects }, (opening) =>
      holdMoment({ ...opening, settings }, request),
    );
    logger.info({ run: about.run_id, as_of: about.as_of }, 'the files of this moment are held; runs go on');
    await prepareState(data, settings);
    const members = await membersOf(held.files, progress);
    const manifest: BackupManifest = {
      format: 'offerline-backup',
      version: backupVersion,
      offerline: packageVersion(),
      ...about,
      schemas: knownSchemas(),
      not_included: leftOutside(data, settings),
      members,
      links: held.links,
    };
    const bytes = members.reduce((sum, member) => sum + (member.same_as === undefined ? member.bytes : 0), 0);
    progress.start('writing the backup', bytes);
    let written = 0;
    try {
      const sources = new Map(held.files.map(({ path, source }) => [path, source]));
      await to.write(
        archiveOf(manifest, sources, (read) => progress.advance((written += read))),
        bytes,
      );
    } finally {
      progress.finish();
    }
    return { place: to.name, manifest, bytes };
  } finally {
    await effects.files
      .remove(data.backupDraft, 'backup: held files let go')
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'files of the backup could not be removed; the next backup removes them'),
      );
    lock.release();
  }
}

/** Digests what has no digest yet; of equal files the first one holds the bytes. */
async function membersOf(files: readonly HeldFile[], progress: Terminal['progress']): Promise<BackupMember[]> {
  const first = new Map<string, string>();
  const members: BackupMember[] = [];
  progress.start('reading what is to be backed up', files.length);
  try {
    for (const { path, source, mode, modifiedNs, expected } of files) {
      const { bytes, sha256 } = expected ?? (await sizeAndDigest(source));
      const member: BackupMember = { path, bytes, sha256, mode, modified_ns: String(modifiedNs) };
      const same = expected === undefined ? undefined : first.get(sha256);
      members.push(same === undefined ? member : { ...member, same_as: same });
      if (expected !== undefined && same === undefined) first.set(sha256, path);
      progress.advance(members.length);
    }
  } finally {
    progress.finish();
  }
  return members;
}

async function sizeAndDigest(source: string): Promise<{ bytes: number; sha256: string }> {
  const { size: bytes } = await stat(source);
  const hash = createHash('sha256');
  let left = bytes;
  await readThrough(source, (chunk) => {
    hash.update(chunk.subarray(0, left));
    left -= Math.min(left, chunk.length);
  });
  return { bytes, sha256: hash.digest('hex') };
}
