const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  euro: '€',
  pound: '£',
};
const maxCharacters = 20_000;

/**
 * Converts HTML to the text that a person reads: without tags, torn ones included, and scripts, with entities replaced,
 * and one line for each paragraph and break. Undefined where nothing is left.
 */
export function plainText(html: string | undefined): string | undefined {
  if (html === undefined) return undefined;
  const text = html
    .slice(0, maxCharacters)
    .replaceAll(/<(script|style)\b[^>]*>[\s\S]*?(<\/\1\s*>|$)/gi, ' ')
    .replaceAll(/<(br|\/p|\/div|\/li|\/h[1-6])\b[^>]*(>|$)/gi, '\n')
    .replaceAll(/<!--[\s\S]*?(-->|$)/g, ' ')
    .replaceAll(/<\/?[a-z][^>]*(>|$)/gi, ' ')
    .replaceAll(
      /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,8}));/gi,
      (whole, decimal?: string, hex?: string, name?: string) =>
        name === undefined ? character(decimal, hex) : (entities[name.toLowerCase()] ?? whole),
    )
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{2,}/g, '\n')
    .trim();
  return text === '' ? undefined : text;
}

function character(decimal: string | undefined, hex: string | undefined): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code >= 0x20 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff) ? String.fromCodePoint(code) : ' ';
}
