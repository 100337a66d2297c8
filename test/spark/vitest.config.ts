import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { workerOptions } from '../support/worker-options.ts';

export default defineConfig({
  test: {
    environment: 'node',
    execArgv: workerOptions,
    root: fileURLToPath(new URL('../..', import.meta.url)),
    // What settings ask of `fleet` is handed in, as the command line does.
    setupFiles: ['src/cli/compose.ts'],
    include: ['test/spark/**/*.spark.ts'],
    globalSetup: ['test/spark/cluster/shared-cluster.ts'],
    // One cluster of two cores: files side by side would only wait for each other.
    fileParallelism: false,
    // Our code is loaded once: loading it takes longer than many of these tests.
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
