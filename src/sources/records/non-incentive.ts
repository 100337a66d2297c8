/**
 * Phrases of an offer's texts that forbid paying users, in English, German, French, Spanish, Portuguese, Italian and
 * Russian: "incent", "incentivised", "incentivi" and the like with a word that denies or forbids it.
 */
const incentive = String.raw`(?<!\p{L})(?:incent|мотивирован)\p{L}*(?: traffic| trafic| трафик\p{L}*)?`;
const denied = String.raw`(?<!\p{L})(?:no|non|kein|keine|keinen|ohne|sin|sem|senza|sans|pas d['’]|без|не)[- ]?`;
const forbidden =
  '(?:(?:not |nicht |non |no |não )(?:allowed|erlaubt|permi\\p{L}*|autorisé\\p{L}*|consentit\\p{L}*)' +
  '|prohib\\p{L}*|proib\\p{L}*|forbidden|verboten|untersagt|interdit\\p{L}*|vietat\\p{L}*|запрещ\\p{L}*)';
const phrases = [
  denied + incentive,
  String.raw`${incentive}(?: \p{L}{1,4})? ${forbidden}`,
  String.raw`${forbidden}\s*:[^.\n]*${incentive}`,
].map((phrase) => new RegExp(phrase, 'iu'));

/** True where an offer's own texts forbid incentives: it must not be shown on an offer wall. */
export function forbidsIncentives(...texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text !== undefined && phrases.some((phrase) => phrase.test(text)));
}
