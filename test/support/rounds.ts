/** The text of a number, such as 10 for ten times as many examples; undefined in `npm test`. */
const times = process.env['OFFERLINE_LAWS'];

/**
 * Number of examples that a law, or a test of made-up input, is tried on. Each takes whole runs, so `npm test` tries a
 * few of them, and `npm run test:laws` and CI try many, `OFFERLINE_LAWS` times so many where that is given.
 */
export function rounds(few: number, many: number): number {
  return times === undefined ? few : Math.ceil(many * Number(times));
}

/** Milliseconds that a law may take: a failure is worth the wait for a small example of it, on a slow machine too. */
export const whileShrinking = 900_000;
