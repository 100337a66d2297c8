import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { workerOptions } from '../support/worker-options.ts';

export default defineConfig({
  test: {
    environment: 'node',
    execArgv: workerOptions,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    globalSetup: 'test/support/files-in-memory.ts',
    // What settings ask of `fleet` is handed in, as the command line does.
    setupFiles: ['src/cli/compose.ts'],
    include: ['test/lake/**/*.lake.ts'],
    fileParallelism: false,
    // Our code is loaded once: loading it takes longer than many of these tests.
    isolate: false,
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
});
