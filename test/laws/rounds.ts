/**
 * Number of examples that a law is tried on. Each takes whole refreshes, so `npm test` tries a few of them and
 * `npm run test:laws`, which CI runs, all.
 */
export function rounds(few: number, all: number): number {
  return process.env['OFFERLINE_LAWS'] === 'all' ? all : few;
}
