import { defineConfig } from 'vitest/config';
import { serviceTestOptions } from '../support/worker-options.ts';

const all = 'test/fleet/**/*.fleet.ts';
/** Tests of what has to come within a time, or is given up after one: no other file may keep the processors busy. */
const timed = [
  'test/fleet/shared-limits.fleet.ts',
  'test/fleet/served-limits.fleet.ts',
  'test/fleet/storage/{lease,standby,store}.fleet.ts',
];

/** Tests that start the real Redis, PostgreSQL or a server that speaks S3; each says what it misses, and fails. */
export default defineConfig({
  test: {
    ...serviceTestOptions,
    globalSetup: 'test/support/files-in-memory.ts',
    // What settings ask of `fleet` is handed in, as the command line does.
    setupFiles: ['src/cli/compose.ts'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        // Each file has services, ports and folders of its own. Many of them wait, for leases and retries that are due.
        test: { name: 'side by side', include: [all], exclude: timed, maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      { extends: true, test: { name: 'timed', include: timed, fileParallelism: false, sequence: { groupOrder: 1 } } },
    ],
  },
});
