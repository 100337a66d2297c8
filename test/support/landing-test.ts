import { test } from 'vitest';
import { LogLanding } from './log-landing.ts';

/** A test over `landing`: a data directory of its own with an open warehouse, removed when the test ends. */
export const it = test.extend<{ landing: LogLanding }>({
  // oxlint-disable-next-line no-empty-pattern -- the runner reads from it what a fixture needs
  landing: async ({}, use) => {
    await using landing = await LogLanding.create();
    await use(landing);
  },
});
