/**
 * Number of examples that a law, or a test of made-up input, is tried on. Each takes whole runs, so `npm test` tries a
 * few of them, and `npm run test:laws` and CI try all.
 */
export function rounds(few: number, all: number): number {
  return process.env['OFFERLINE_LAWS'] === 'all' ? all : few;
}

/** Milliseconds that a law may take: a failure is worth the wait for a small example of it, on a slow machine too. */
export const whileShrinking = 900_000;
