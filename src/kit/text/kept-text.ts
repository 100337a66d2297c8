/** A rejected row as it is kept: of a giant one the first part is enough to find it and to see what is wrong. */
export interface KeptText {
  raw: string;
  /** Characters of the whole row. */
  raw_length: number;
}

/** Characters that are kept of a rejected row. */
export const charactersKept = 2000;

/** The first characters of a row, and how many it has. */
export function keptText(text: string): KeptText {
  const raw_length = text.length - pairsIn(text);
  if (raw_length <= charactersKept) return { raw: text, raw_length };
  const [first = ''] = new RegExp(`^.{${charactersKept}}`, 'su').exec(text) ?? [];
  return { raw: copied(first), raw_length };
}

/** A part of a string keeps the whole of it in memory; a copy does not. */
export function copied(part: string): string {
  return Buffer.from(part).toString();
}

/** A character beyond the first 65,536 takes two places in a string. */
function pairsIn(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) pairs++;
  return pairs;
}
