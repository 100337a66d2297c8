/**
 * Encodes by RFC 3986: unreserved characters bare, every other byte of the UTF-8 text as `%` and two upper-case digits.
 */
export function percentEncoded(text: string): string {
  // encodeURIComponent leaves these five bare, and throws on half a surrogate pair.
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Decodes such a text; undefined where a `%` begins no code, or bytes are no UTF-8. */
export function percentDecoded(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
