const maxReason = 500;

/**
 * Makes a stranger's reason of a reversal a text for people: without control characters, and at most 500 characters,
 * since it may become a part of an address. Undefined where nothing is left.
 */
export function reasonText(text: string | undefined): string | undefined {
  const plain = text?.replaceAll(/\p{Cc}+/gu, ' ').trim() ?? '';
  // A character takes two places at most.
  const beginning = Array.from(plain.slice(0, 2 * maxReason));
  return beginning.slice(0, maxReason).join('') || undefined;
}
