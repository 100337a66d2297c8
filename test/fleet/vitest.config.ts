import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests that start the real Redis, PostgreSQL or a server that speaks S3; each says what it misses, and fails. */
export default defineConfig({
  test: {
    environment: 'node',
    root: fileURLToPath(new URL('../..', import.meta.url)),
    // What settings ask of `fleet` is handed in, as the command line does.
    setupFiles: ['src/cli/compose.ts'],
    include: ['test/fleet/**/*.fleet.ts'],
    // Real services and many processes on few cores: files side by side would only wait for each other.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
