import { defineConfig } from 'vitest/config';
import { serviceTestOptions } from '../support/worker-options.ts';

export default defineConfig({
  test: {
    ...serviceTestOptions,
    // What settings ask of `fleet` is handed in, as the command line does.
    setupFiles: ['src/cli/compose.ts'],
    include: ['test/spark/**/*.spark.ts'],
    globalSetup: ['test/spark/cluster/shared-cluster.ts'],
    // One cluster of two cores: files side by side would only wait for each other.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
