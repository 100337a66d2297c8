import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { workerOptions } from '../support/worker-options.ts';

export default defineConfig({
  test: {
    environment: 'node',
    execArgv: workerOptions,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/browser/**/*.browser.ts'],
    globalSetup: 'test/browser/support/networks.ts',
    fileParallelism: false,
    // Our code is loaded once: loading it takes longer than many of these tests.
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
