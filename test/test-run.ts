import { defaultSettings } from '../src/kit/config/settings.ts';
import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { realEffects } from '../src/kit/files/effects.ts';
import { createLogger } from '../src/kit/logging/log.ts';
import { noProgress } from '../src/kit/logging/progress.ts';
import type { Run } from '../src/pipeline/runs/stage.ts';

/** A silent run at a fixed time over a data directory, for tests of one stage. */
export function testRun(data: DataDirectory, changes: Partial<Run> = {}): Run {
  const asOf = changes.asOf ?? '2026-11-18T12:00:00Z';
  return {
    runId: 1,
    asOf,
    wallClock: asOf,
    data,
    settings: defaultSettings,
    logger: createLogger({ write: () => true }, 'silent'),
    progress: noProgress,
    effects: realEffects,
    ...changes,
  };
}
