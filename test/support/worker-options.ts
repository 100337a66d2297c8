import { fileURLToPath } from 'node:url';

/**
 * Node's options for the processes that run tests. Each column of what DuckDB answers counts as 32 KiB outside of the
 * heap, though it is gone at once; without this, 64 MB of them, a run or two, have the whole heap collected: a tenth of
 * the suite's processor time.
 */
export const workerOptions = ['--external-memory-accounted-in-global-limit'];

/** What all tests of services have in common. Each worker loads our code once: that takes longer than many of them. */
export const serviceTestOptions = {
  environment: 'node',
  root: fileURLToPath(new URL('../..', import.meta.url)),
  execArgv: workerOptions,
  isolate: false,
} as const;
