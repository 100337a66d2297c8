/** Characters that a conversion's id has in our logs. */
export const maxConversionId = 128;

/** The same with room for the suffix of another credit, as `~12`. */
export const maxCreditedId = 120;

/** True for a text as ids in our logs are. */
export function isPrintableAscii(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text);
}
