/** A macro as it is written, such as `{{user_id}}`, and its name `user_id`. */
interface WrittenMacro {
  written: string;
  name: string;
}

/** Forms of `{name}` in other systems, each with a group for the name. */
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

/** Forms with braces are macros anywhere. */
const inBraces = /\{\{ ?(\w+) ?\}\}|\$\{(\w+)\}|\{\$(\w+)\}/g;
/** Other forms are macros only as a whole value or step of a path: `filter[country]=…` has none. */
const asWhole = new RegExp(String.raw`(?<=[=/])(?:${otherSpellings})(?=[&/?#;]|$)`, 'gi');
const anySpelling = new RegExp(String.raw`\{(\w*)\}|${inBraces.source}|${asWhole.source}`, 'gi');
const onlyMacro = new RegExp(String.raw`^(?:${otherSpellings}|\{\{?([^{}]*)\}?\})$`, 'i');

/** Rewrites macros of known names as `{name}`, and `&amp;` as `&`: addresses are copied out of pages. */
export function withPlainMacros(address: string, isKnown: (name: string) => boolean): string {
  // Most addresses have no macro.
  if (!/[{[%<#$]|&(?:amp|#)/i.test(address)) return address;
  const plain = (written: string, ...groups: unknown[]) => {
    const name = nameIn(groups);
    return isKnown(name) ? `{${name}}` : written;
  };
  return withPlainAmpersands(address).replaceAll(inBraces, plain).replaceAll(asWhole, plain);
}

/** Replaces `&amp;` by `&` in an address that was copied out of a page. */
export function withPlainAmpersands(address: string): string {
  return address.replaceAll(/&(?:(?:amp;)+|#0*38;|#x0*26;)/gi, '&');
}

/** True for a text with braces that nothing fills, `{}` included. */
export function hasBraces(text: string): boolean {
  return /\{\w*\}|%7B\w*%7D/i.test(text);
}

/** Finds everything that looks like a macro in an address, `{}` included. */
export function macrosIn(address: string): WrittenMacro[] {
  return Array.from(address.matchAll(anySpelling), ([written, ...groups]) => ({ written, name: nameIn(groups) }));
}

/** Returns the macro that a whole value is: the sender did not fill it. */
export function unfilledMacro(value: string): WrittenMacro | undefined {
  const found = onlyMacro.exec(value);
  return found === null ? undefined : { written: value, name: nameIn(found.slice(1)) };
}

/** Returns the only group that matched, before the further arguments of `replace`. */
function nameIn(groups: readonly unknown[]): string {
  return groups.find((group) => typeof group === 'string') ?? '';
}
