import { parentPort } from 'node:worker_threads';
import { checkFile, type CheckReading } from './check-files.ts';
import type { LandingFile } from '../landing-file.ts';

// One message per file: digest and wholeness are pure computing, which must not hold up the thread that talks to
// DuckDB.
parentPort?.on('message', ({ file, reading }: { file: LandingFile; reading: CheckReading }) => {
  checkFile(file, reading).then(
    (check) => parentPort?.postMessage({ check }),
    (error: unknown) => parentPort?.postMessage({ error }),
  );
});
