import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    // DuckDB is a native library with threads of its own: a process per file keeps one file's crash its own.
    pool: 'forks',
    // By default one processor is left free; here it would be half of a small machine.
    maxWorkers: '100%',
    // Some tests start processes or write millions of rows; on a busy machine with two cores they take their time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
