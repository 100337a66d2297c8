/** A macro as somebody wrote it: `{{user_id}}` and its name `user_id`. */
export interface WrittenMacro {
  written: string;
  name: string;
}

/** How systems write macros beside `{name}`. A name stands in one group of them. */
const otherSpellings = [
  String.raw`\{\{ ?(\w+) ?\}\}`,
  String.raw`\$\{(\w+)\}`,
  String.raw`\{\$(\w+)\}`,
  String.raw`\[(\w+)\]`,
  String.raw`#(\w+)#`,
  String.raw`%(\w+)%`,
  String.raw`<(\w+)>`,
  String.raw`(?:%7B){1,2}(\w+?)(?:%7D){1,2}`,
  String.raw`%5B(\w+)%5D`,
  String.raw`%23(\w+)%23`,
  String.raw`%25(\w+)%25`,
  String.raw`%3C(\w+)%3E`,
].join('|');

/** Braces are a macro wherever they stand, in whatever form. */
const inBraces = /\{\{ ?(\w+) ?\}\}|\$\{(\w+)\}|\{\$(\w+)\}/g;
/** The others only where they are a whole value or step of a path: `filter[country]=…` is none. */
const asWhole = new RegExp(String.raw`(?<=[=/])(?:${otherSpellings})(?=[&/?#;]|$)`, 'gi');
const anySpelling = new RegExp(String.raw`\{(\w*)\}|${inBraces.source}|${asWhole.source}`, 'gi');
const onlyMacro = new RegExp(String.raw`^(?:${otherSpellings}|\{\{?([^{}]*)\}?\})$`, 'i');

/**
 * An address with its macros as `{name}`, however they are written, where a macro of that name is known. What HTML
 * makes of `&` is undone: addresses are copied out of pages.
 */
export function withPlainMacros(address: string, isKnown: (name: string) => boolean): string {
  // Most addresses have nothing to look at.
  if (!/[{[%<#$]|&(?:amp|#)/i.test(address)) return address;
  const plain = (written: string, ...groups: unknown[]) => {
    const name = nameIn(groups);
    return isKnown(name) ? `{${name}}` : written;
  };
  return withPlainAmpersands(address).replaceAll(inBraces, plain).replaceAll(asWhole, plain);
}

/** An address that was copied out of a page, `&amp;` for `&`, as it is meant. */
export function withPlainAmpersands(address: string): string {
  return address.replaceAll(/&(?:(?:amp;)+|#0*38;|#x0*26;)/gi, '&');
}

/** Whether something in braces stands in a text that nobody fills, `{}` included. */
export function hasBraces(text: string): boolean {
  return /\{\w*\}|%7B\w*%7D/i.test(text);
}

/** Whatever looks like a macro in an address, `{}` included. */
export function macrosIn(address: string): WrittenMacro[] {
  return Array.from(address.matchAll(anySpelling), ([written, ...groups]) => ({ written, name: nameIn(groups) }));
}

/** The macro that a whole value is: somebody sent it without putting the value in. */
export function unfilledMacro(value: string): WrittenMacro | undefined {
  const found = onlyMacro.exec(value);
  return found === null ? undefined : { written: value, name: nameIn(found.slice(1)) };
}

/** The only group that took part, before what `replace` adds to them. */
function nameIn(groups: readonly unknown[]): string {
  return groups.find((group) => typeof group === 'string') ?? '';
}
