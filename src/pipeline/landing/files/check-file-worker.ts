import { parentPort } from 'node:worker_threads';
import { checkFile, type CheckLimits } from './check-files.ts';
import type { LandingFile } from '../landing-file.ts';

// One message per file: digest and wholeness are pure computing, which must not hold up the thread that talks to
// DuckDB.
parentPort?.on(
  'message',
  ({ file, scratchPath, limits }: { file: LandingFile; scratchPath: string; limits: CheckLimits }) => {
    checkFile(file, scratchPath, limits).then(
      (check) => parentPort?.postMessage({ check }),
      (error: unknown) => parentPort?.postMessage({ error }),
    );
  },
);
