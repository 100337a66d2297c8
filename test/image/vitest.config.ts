import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The image and the fleet of it: checked as far as that goes without an engine for containers. */
export default defineConfig({
  test: {
    environment: 'node',
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/image/**/*.image.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    // Packages are installed.
    hookTimeout: 180_000,
  },
});
