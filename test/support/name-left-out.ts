import type { TestProject } from 'vitest/node';

/** Says before a run that its filter leaves slow tests out, and what runs them: a skipped test has a reason. */
export default function nameLeftOut({ vitest }: TestProject): void {
  if (vitest.config.tagsFilter?.includes('!slow'))
    console.log('Slow tests are left out; `npm run -s test:all` runs them, too.\n');
}
