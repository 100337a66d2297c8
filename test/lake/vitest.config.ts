import { defineConfig } from 'vitest/config';
import { serviceTestOptions } from '../support/worker-options.ts';

export default defineConfig({
  test: {
    ...serviceTestOptions,
    globalSetup: 'test/support/files-in-memory.ts',
    // What settings ask of `fleet` is handed in, as the command line does.
    setupFiles: ['src/cli/compose.ts'],
    include: ['test/lake/**/*.lake.ts'],
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
});
