import { readSettings } from '../../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../../src/kit/files/effects.ts';
import { filesToReadAgain } from '../../src/pipeline/ingest/ledger/read-again.ts';
import { seenFiles, seenPaths } from '../../src/pipeline/ingest/ledger/ledger.ts';
import { isMappedBy } from '../../src/pipeline/ingest/landing-mappings.ts';
import { findLandingFiles } from '../../src/pipeline/landing/files/find-files.ts';
import { reportsToBackfill } from '../../src/pipeline/models/report-backfill.ts';
import { hasStore } from '../../src/postbacks/open-store.ts';
import { readRunClock } from '../../src/pipeline/runs/stage.ts';
import { readSites } from '../../src/kit/sites/sites.ts';
import { currentManifest } from '../../src/pipeline/snapshot/snapshot-store.ts';
import { assertNotOlder } from '../../src/pipeline/snapshot/publish-stage.ts';
import { assertNotAhead } from '../../src/kit/time/ahead-of-clock.ts';
import type { Moment } from '../../src/kit/time/moment.ts';
import type { LandingKind } from '../../src/kit/vocabulary/values.ts';
import { duePostbacks } from '../../src/postbacks/due-postbacks.ts';
import type { RunRequest } from '../run-pipeline.ts';
import { withWarehouse } from '../with-warehouse.ts';
import { leftOut } from './left-out.ts';

/** A landing file that a refresh would ingest. */
interface FileToRead {
  path: string;
  kind: LandingKind;
  source: string | null;
  bytes: number;
  /** `changed`: size or time differ from when it was read; `configuration`: other settings read it differently. */
  why: 'new' | 'changed' | 'configuration';
}

/** Input that a refresh would begin with; only reading shows which rows are good. */
export interface RefreshPlan {
  as_of: Moment;
  published: { snapshot_id: string; as_of: Moment } | null;
  files: FileToRead[];
  bytes: number;
  /** New files that it would not ingest. */
  left_out: { path: string; why: string }[];
  /** Paths that look like data but are not read. */
  ignored: { path: string; why: string }[];
  /** Missing or outdated daily reports of days that are over; a run computes the newest. */
  reports_due: number;
  postbacks_due: { site_key: string; due: number; waits_for: string }[];
}

/**
 * Returns the files that a refresh would read, and what is due. Holds the warehouse only to compare the list of landing
 * files with the ledger. Throws what the refresh would throw before its first stage.
 */
export async function planRefresh(
  { data, terminal, asOf: asked, allowOlder, allowFuture }: RunRequest,
  effects: Effects = realEffects,
): Promise<RefreshPlan> {
  const settings = readSettings(data);
  for (const warning of readSites(data.sitesFile).warnings) terminal.logger.warn(warning);
  const clock = readRunClock(effects, asked);
  if (!allowFuture) assertNotAhead(clock.asOf, clock.wallClock);
  const scan = await findLandingFiles(data.landing, isMappedBy(settings));
  const { files, left, reports } = await withWarehouse(
    { command: 'run refresh --dry-run', data, terminal, settings, effects, isPreview: true },
    async (state) => {
      const seen = await seenFiles(state, scan.files);
      const unchanged = new Set(seen.map(({ path }) => path));
      const readBefore = await seenPaths(state);
      const { why: nothingOf, digested } = await leftOut(
        state,
        settings,
        scan.files.filter(({ path }) => !unchanged.has(path)),
        effects.now(),
      );
      const again = (await filesToReadAgain(state, settings))([...seen, ...digested]);
      return {
        left: [...nothingOf].flatMap(([path, why]) => (readBefore.has(path) ? [] : [{ path, why }])),
        files: scan.files.flatMap(({ path, kind, source, bytes }): FileToRead[] => {
          if (again.has(path)) return [{ path, kind, source, bytes, why: 'configuration' }];
          if (nothingOf.has(path) || unchanged.has(path)) return [];
          return [{ path, kind, source, bytes, why: readBefore.has(path) ? 'changed' : 'new' }];
        }),
        reports: await reportsToBackfill(state, { all: false }),
      };
    },
  );
  const published = await currentManifest(data);
  if (published !== undefined && !allowOlder) assertNotOlder(clock, published.as_of);
  return {
    as_of: clock.asOf,
    published: published === undefined ? null : { snapshot_id: published.snapshot_id, as_of: published.as_of },
    files,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    left_out: left,
    ignored: scan.ignored,
    reports_due: reports.length,
    postbacks_due: hasStore(data, settings) ? await duePostbacks(data, effects) : [],
  };
}
