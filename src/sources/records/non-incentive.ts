/**
 * Phrases of an offer's texts that forbid paying users, in English, German, French, Spanish, Portuguese, Italian and
 * Russian: "incent", "incentivised", "incentivi" and the like with a word that denies or forbids it.
 */
const incentive = String.raw`(?<!\p{L})(?:incent|мотивирован)\p{L}*(?: traffic| trafic| трафик\p{L}*)?`;
const denied = String.raw`(?<!\p{L})(?:no|non|kein|keine|keinen|ohne|sin|sem|senza|sans|pas d['’]|без|не)[- ]?`;
/** Bounded, since a word may begin again at each of its letters. */
const ending = String.raw`\p{L}{0,20}`;
const forbidden =
  `(?:(?:not |nicht |non |no |não )(?:allowed|erlaubt|permi${ending}|autorisé${ending}|consentit${ending})` +
  `|prohib${ending}|proib${ending}|forbidden|verboten|untersagt|interdit${ending}|vietat${ending}|запрещ${ending})`;

const deniedIncentive = new RegExp(denied + incentive, 'iu');
const incentiveForbidden = new RegExp(String.raw`${incentive}(?: \p{L}{1,4})? ${forbidden}`, 'iu');
const anyIncentive = new RegExp(incentive, 'iu');
/** The rest of a sentence: a search for an incentive from each of its words would take the square of its length. */
const forbiddenList = new RegExp(String.raw`${forbidden}\s*:[^.\n]*`, 'giu');

/** Characters of a text that are read: whatever forbids it says so before. */
const maxCharacters = 100_000;

/** True where an offer's own texts forbid incentives: it must not be shown on an offer wall. */
export function forbidsIncentives(...texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text !== undefined && forbids(text.slice(0, maxCharacters)));
}

function forbids(text: string): boolean {
  if (deniedIncentive.test(text) || incentiveForbidden.test(text)) return true;
  return text.matchAll(forbiddenList).some(([list]) => anyIncentive.test(list));
}
