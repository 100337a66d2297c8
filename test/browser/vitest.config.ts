import { defineConfig } from 'vitest/config';
import { serviceTestOptions } from '../support/worker-options.ts';

export default defineConfig({
  test: {
    ...serviceTestOptions,
    include: ['test/browser/**/*.browser.ts'],
    globalSetup: 'test/browser/support/networks.ts',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
