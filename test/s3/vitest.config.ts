import { defineConfig } from 'vitest/config';
import { serviceTestOptions } from '../support/worker-options.ts';

export default defineConfig({
  test: {
    ...serviceTestOptions,
    globalSetup: 'test/support/files-in-memory.ts',
    // What settings ask of `fleet` is handed in, as the command line does.
    setupFiles: ['src/cli/compose.ts'],
    include: ['test/s3/**/*.s3.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
