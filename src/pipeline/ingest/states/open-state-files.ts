import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import { QuarantineError, type CheckedFile } from '../../landing/landing-file.ts';
import { landingMapping } from '../landing-mappings.ts';
import { openEach } from '../open-each.ts';
import type { Run } from '../../runs/stage.ts';
import { isState } from '../../landing/lines/map-lines.ts';
import {
  eventsOfStates,
  emittedStates,
  type StateRowCounts,
  type StateEvents,
  type StateFile,
  type EmittedState,
} from './state-events.ts';

/** Files of a run whose rows say how conversions stand. */
export interface StateFiles {
  /** Gives a file with its events as lines. Throws `QuarantineError` where it cannot be read whole. */
  linesOf(file: Pick<StateFile, 'fileId'>): CheckedFile & { states: StateRowCounts };
  /** What is emitted of conversions with the events of these files. */
  emitted: EmittedState[];
}

/** Returns whether the rows of a file say how conversions stand, by its path in the landing folder. */
export function isStateFile(settings: Parameters<typeof landingMapping>[0], path: string): boolean {
  const mapping = landingMapping(settings, path)?.mapping;
  return mapping !== undefined && isState(mapping);
}

/** Opens a run's files of states together, since each shows what is new after another. */
export async function openStateFiles(
  run: Run,
  connection: DuckDBConnection,
  files: readonly StateFile[],
  withLines: (file: CheckedFile) => Promise<CheckedFile>,
): Promise<StateFiles> {
  const { settings, wallClock, data } = run;
  const { opened, broken } = await openEach(files, async (file): Promise<StateFile> => ({
    ...file,
    ...(await withLines(file)),
  }));
  const { events, emitted } = await eventsOfStates(
    opened,
    (ids) => emittedStates(connection, ids),
    { wallClock, timeZone: settings.logs.conversions.time_zone },
    (file) => join(data.scratch, `states-${opened.indexOf(file)}`),
  );
  const filesById = new Map(opened.map((file) => [file.fileId, file]));
  const brokenById = new Map(broken.map((each) => [each.file.fileId, each]));
  return {
    emitted,
    linesOf({ fileId }) {
      const why = brokenById.get(fileId);
      if (why !== undefined) throw new QuarantineError(why.reason, why.detail);
      const file = filesById.get(fileId) as StateFile;
      const { lines, ...states } = events.get(file) as StateEvents;
      return { ...file, ...lines, states };
    },
  };
}
