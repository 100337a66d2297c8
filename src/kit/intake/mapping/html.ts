import { decodeHTMLStrict } from 'entities';

/** Characters of a text that are read. */
export const maxPlainCharacters = 20_000;

/**
 * Converts HTML to the text that a person reads: without tags, torn ones included, and scripts, with entities replaced,
 * and one line for each paragraph and break. Undefined where nothing is left.
 */
export function plainText(html: string | undefined): string | undefined {
  if (html === undefined) return undefined;
  const text = html
    .slice(0, maxPlainCharacters)
    .replaceAll(/<(script|style)\b[^>]*>[\s\S]*?(<\/\1\s*>|$)/gi, ' ')
    .replaceAll(/<(br|\/p|\/div|\/li|\/h[1-6])\b[^>]*(>|$)/gi, '\n')
    .replaceAll(/<!--[\s\S]*?(-->|$)/g, ' ')
    .replaceAll(/<\/?[a-z][^>]*(>|$)/gi, ' ')
    .replaceAll(/&(?:#\d{1,7}|#x[0-9a-f]{1,6}|\w{2,32});/gi, character)
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{2,}/g, '\n')
    .trim();
  return text === '' ? undefined : text;
}

/**
 * Returns the character of an entity. Names are read in any case, since people write `&NBSP;`; a control character or
 * one that does not exist is a blank, so that entities bring none into a text.
 */
function character(entity: string): string {
  const decoded = decodeHTMLStrict(entity);
  const meant = decoded === entity ? decodeHTMLStrict(entity.toLowerCase()) : decoded;
  if (meant.toLowerCase() === entity.toLowerCase()) return entity;
  return /[\p{Cc}\u{fffd}]/u.test(meant) ? ' ' : meant;
}
