import { DataDirectory } from '../../kit/config/data-directory.ts';
import { realEffects } from '../../kit/files/effects.ts';
import { createLogger } from '../../kit/logging/log.ts';
import { noProgress } from '../../kit/logging/progress.ts';
import type { Run } from '../runs/stage.ts';
import { openStateDatabase, type StateDatabase } from '../warehouse/database.ts';
import { emptyScratch, ingestFiles } from './ingest-stage.ts';
import { filesToReadAgain } from './ledger/read-again.ts';
import type { TrialOrder } from './suspects.ts';

/*
 * The process in which `suspects.ts` has files read that a run may have ended by force over, one after the other, into
 * a warehouse that is thrown away. It answers each that it survives.
 */
let state: StateDatabase | undefined;
let runId = 0;

async function read({ root, file, ...parts }: TrialOrder): Promise<void> {
  const data = new DataDirectory(root);
  state ??= await openStateDatabase(data, parts.settings);
  const run: Run = {
    ...parts,
    runId: ++runId,
    data,
    logger: createLogger({ write: () => true }, 'silent'),
    progress: noProgress,
    effects: realEffects,
  };
  await emptyScratch(run);
  await ingestFiles(
    run,
    { state, sites: { sites: [] } },
    { files: [file], broken: [] },
    { seen: [], seenAt: run.effects.now(), readAgain: await filesToReadAgain(state, run.settings) },
  );
}

// Signals that stop the run stop it between its stages; this process ends with the run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(1));
process.on('message', (reading: TrialOrder) => {
  // The run itself will fail in the same way and report it.
  const answer = () => process.send?.('read');
  void read(reading).then(answer, answer);
});
