import { parentPort } from 'node:worker_threads';
import { checkFile } from './check-file.ts';
import type { LandingFile } from './landing-file.ts';

// One message per file: digest and wholeness are pure computing, which must not hold up the thread that talks to DuckDB.
parentPort?.on('message', ({ file, scratchPath, unpackedLimit }: { file: LandingFile; scratchPath: string; unpackedLimit: number }) => {
  checkFile(file, scratchPath, unpackedLimit).then(
    (check) => parentPort?.postMessage({ check }),
    (error: unknown) => parentPort?.postMessage({ error }),
  );
});
