import { DataDirectory } from '../../kit/config/data-directory.ts';
import { realEffects } from '../../kit/files/effects.ts';
import { createLogger } from '../../kit/logging/log.ts';
import { noProgress } from '../../kit/logging/progress.ts';
import type { Run } from '../runs/stage.ts';
import { openStateDatabase } from '../warehouse/database.ts';
import { DuckdbEngine } from './engine/duckdb-engine.ts';
import { ingestFiles } from './ingest-stage.ts';
import type { TrialRequest } from './suspects.ts';

async function readOnTrial({ root, files, ...parts }: TrialRequest): Promise<void> {
  const data = new DataDirectory(root);
  const state = await openStateDatabase(data, parts.settings);
  const run: Run = {
    ...parts,
    runId: 1,
    data,
    logger: createLogger({ write: () => true }, 'silent'),
    progress: noProgress,
    effects: realEffects,
  };
  await ingestFiles(
    run,
    { state, sites: { sites: [] }, engine: (_run, connection) => new DuckdbEngine(run, connection) },
    { files, broken: [] },
    { seen: [], seenAt: run.effects.now() },
  );
}

// Whoever stops the run stops it between its stages; this process ends with the run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(1));
process.once(
  'message',
  (request: TrialRequest) =>
    void readOnTrial(request).then(
      () => process.exit(0),
      () => process.exit(1),
    ),
);
