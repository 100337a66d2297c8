import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { workerOptions } from './test/support/worker-options.ts';

/** Tests that replace modules, stop the clock or take signals, which would reach others in the same process. */
const apart = ['test/kit/http/equal-work.test.ts', 'test/cli/schedule/**/*.test.ts', 'test/launch.test.ts'];
/** Laws, and tests of made-up input: those whose number of examples `support/rounds.ts` says. */
export const laws = [
  'test/laws',
  'test/pipeline/ingest/damaged-exports.test.ts',
  'test/pipeline/ingest/mapped-fuzz.test.ts',
  'test/pipeline/ingest/mapped-inverse.test.ts',
  'test/pipeline/ingest/logs/log-fuzz.test.ts',
  'test/pipeline/landing/same-lines.test.ts',
  'test/serve/snapshot/incremental-sync.test.ts',
  'test/fault/backup',
];
const lawFiles = laws.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`));
/** Rooms of tests that take many seconds: begun last, one of them would run on alone. */
const long = /^test\/(e2e|laws|fault|pipeline\/(doctor|analysis|models))\//;

class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of the test runner, not of an array
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => long.test(relative(import.meta.dirname, moduleId));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    environment: 'node',
    globalSetup: ['test/support/files-in-memory.ts', 'test/support/name-left-out.ts'],
    pool: 'forks',
    execArgv: workerOptions,
    // One more than there are processors: tests wait now and then for processes that they started.
    maxWorkers: availableParallelism() + 1,
    // Some tests start processes or write millions of rows; on a busy machine with two cores they take their time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    tags: [{ name: 'slow', description: 'left out by `npm test`: takes more than a second', timeout: 900_000 }],
    sequence: { sequencer: LongOnesFirst },
    projects: [
      { extends: true, test: { name: 'apart', include: apart } },
      // A process of its own for each file would cost half a second of loading code.
      {
        extends: true,
        test: {
          name: 'together',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: ['test/bench/**', ...apart, ...lawFiles],
        },
      },
      // All examples take minutes on a slow machine, and more where one fails and a smaller one is looked for.
      { extends: true, test: { name: 'laws', isolate: false, include: lawFiles, testTimeout: 900_000 } },
    ],
  },
});
