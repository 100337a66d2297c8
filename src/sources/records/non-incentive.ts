/** How networks say in an offer's texts that users may not be paid for it. */
const phrases =
  /\b(?:no|non)[- ]?incent(?:ive|ives|ivi[sz]ed|s)?\b|\bincent(?:ive|ives|ivi[sz]ed)?(?: traffic)?(?: is| are)? (?:not allowed|prohibited|forbidden)\b|\b(?:not allowed|prohibited|forbidden)\s*:[^.\n]*\bincent/i;

/** Whether an offer's own words forbid incentives: it must not be shown on an offer wall. */
export function forbidsIncentives(...texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text !== undefined && phrases.test(text));
}
