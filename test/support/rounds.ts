/** A number, such as 10 for ten times as many examples; absent in `npm test`. */
const times = process.env['OFFERLINE_LAWS'];
// A law that is tried on no example passes.
if (times !== undefined && !(Number(times) > 0))
  throw new Error(`OFFERLINE_LAWS says how many times as many examples, such as 10; it is "${times}"`);

/**
 * Number of examples that a law, or a test of made-up input, is tried on. Each takes whole runs, so `npm test` tries a
 * few of them, and `npm run test:laws` tries many, `OFFERLINE_LAWS` times so many where that is given and never fewer
 * than `npm test`, CI a fifth of them.
 */
export function rounds(few: number, many: number): number {
  return times === undefined ? few : Math.max(few, Math.ceil(many * Number(times)));
}
