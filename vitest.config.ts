import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests that replace modules, which would reach others in the same process. */
const replacingModules = ['test/serve/equal-work.test.ts'];
/** Tests that share processes, since loading the code for each of them takes a tenth of the time. */
const sharing = [
  'analysis',
  'cli',
  'contract',
  'doctor',
  'duckdb',
  'errors',
  'feed',
  'files',
  'generate',
  'ingest',
  'landing',
  'logging',
  'maintenance',
  'models',
  'postbacks',
  'runs',
  'serve',
  'sites',
  'snapshot',
  'sql',
  'status',
  'text',
  'time',
  'vocabulary',
  'warehouse',
].map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    // One more than there are processors: a sixth of the time tests wait for processes that they started, and for the disk.
    maxWorkers: availableParallelism() + 1,
    // Some tests start processes or write millions of rows; on a busy machine with two cores they take their time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      // DuckDB is a native library with threads of its own: a process per file keeps one file's crash its own.
      {
        extends: true,
        test: { name: 'apart', include: ['test/**/*.test.ts'], exclude: ['test/bench/**', ...sharing] },
      },
      { extends: true, test: { name: 'together', isolate: false, include: sharing, exclude: replacingModules } },
      { extends: true, test: { name: 'replacing modules', include: replacingModules } },
    ],
  },
});
