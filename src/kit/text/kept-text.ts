/** Text of a rejected row: of a giant one the first part is enough to find it and to see its mistake. */
export interface KeptText {
  raw: string;
  /** Characters of the whole row. */
  raw_length: number;
}

/** Characters kept of a rejected row. */
export const charactersKept = 2000;

/** Returns the first characters of a row, and its length. */
export function keptText(text: string): KeptText {
  const raw_length = text.length - pairsIn(text);
  if (raw_length <= charactersKept) return { raw: text, raw_length };
  const [first = ''] = new RegExp(`^.{${charactersKept}}`, 'su').exec(text) ?? [];
  return { raw: copied(first), raw_length };
}

/** Copies a part of a string, which would keep the whole string in memory. */
export function copied(part: string): string {
  return Buffer.from(part).toString();
}

/** Counts characters beyond the first 65,536, which take two places in a string. */
function pairsIn(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) pairs++;
  return pairs;
}
