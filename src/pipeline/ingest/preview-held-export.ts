import type { DuckDBConnection } from '@duckdb/node-api';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { catalogRecords } from '../landing/catalog/catalog-records.ts';
import { checkFiles, noLimits } from '../landing/files/check-files.ts';
import { findLandingFiles } from '../landing/files/find-files.ts';
import { isMappedBy, landingMapping } from './landing-mappings.ts';
import { fileLines } from '../landing/lines/file-lines.ts';
import { QuarantineError, type CheckedFile } from '../landing/landing-file.ts';
import type { VersionStatus } from '../../kit/vocabulary/values.ts';
import { readExport } from './catalog/catalog-export.ts';
import type { WaitingExport } from './catalog/catalog-holds.ts';
import { removals, type PresentOffer } from './catalog/catalog-plan.ts';
import { readKnownOffers, readPresentOffers } from './catalog/catalog-state.ts';
import { sourceSettings } from './ledger/reading-settings.ts';
import { catalogColumns, maxUnpackedBytesOf } from './open-new-files.ts';

/** An offer that a held export lacks, as the catalog has it now. */
export interface RemovedOffer {
  offerId: number;
  externalId: string;
  status: VersionStatus;
}

interface Reading {
  data: DataDirectory;
  settings: Settings;
  /** The clock of the process, for timestamps ahead of it. */
  wallClock: Date;
}

/**
 * Reads a held export once more, by the rules of a run, and returns what it would remove from its source's catalog as
 * that is now. Writes nothing but scratch. Throws `UsageError` where the file is gone or has changed since.
 */
export async function previewHeldExport(
  connection: DuckDBConnection,
  held: WaitingExport,
  reading: Reading,
): Promise<{ removed: RemovedOffer[]; active: number }> {
  const scratch = join(reading.data.scratch, 'held');
  await mkdir(scratch, { recursive: true });
  try {
    const file = await openHeld(connection, held, reading, scratch);
    const { mode, time_zone: timeZone } = sourceSettings(reading.settings, held.source);
    const offers = { currencyRates: reading.settings.rates, timeZone, wallClock: reading.wallClock };
    // Nothing is known beforehand, so every record is read: no digest of how is needed.
    const catalog = await readExport(file, () => catalogRecords(file), {
      offers,
      readAsSha256: '',
      known: new Map(),
    });
    const present = await readPresentOffers(connection, held.source);
    const gone = removals({ source: held.source, mode, present, exports: [catalog], released: true });
    return {
      removed: await withIds(connection, held.source, gone),
      active: present.filter(({ status }) => status === 'active').length,
    };
  } catch (error) {
    if (!(error instanceof QuarantineError)) throw error;
    const why = `${error.reason}: ${error.message}`;
    throw new UsageError(`${held.path} cannot be read any more (${why}), so the next run would quarantine it`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function openHeld(
  connection: DuckDBConnection,
  held: WaitingExport,
  { data, settings }: Reading,
  scratch: string,
): Promise<CheckedFile> {
  const landed = (await findLandingFiles(data.landing, isMappedBy(settings))).files.find(
    ({ path }) => path === held.path,
  );
  if (landed === undefined)
    throw new UsageError(
      `${held.path} is no longer in the landing folder, so there is nothing to accept: land it again`,
    );
  const maxUnpackedBytes = maxUnpackedBytesOf({ settings });
  const mapping = landingMapping(settings, held.path);
  const { readable, broken } = await checkFiles([landed], scratch, {
    limits: { ...noLimits, maxUnpackedBytes },
    mappingOf: () => mapping,
  });
  const [problem] = broken;
  if (problem !== undefined) throw new QuarantineError(problem.reason, problem.detail);
  const [checked] = readable;
  if (checked?.sha256 !== held.sha256)
    throw new UsageError(`${held.path} has changed since it was held: the next run reads it as a new export`);
  return fileLines(connection, checked, catalogColumns, {
    scratchPath: join(scratch, 'table'),
    maxUnpackedBytes,
    mapping,
  });
}

async function withIds(
  connection: DuckDBConnection,
  source: string,
  gone: readonly PresentOffer[],
): Promise<RemovedOffer[]> {
  const known = await readKnownOffers(
    connection,
    source,
    gone.map(({ externalId }) => externalId),
  );
  return known.map(({ offerId, externalId, status }) => ({ offerId, externalId, status }));
}
