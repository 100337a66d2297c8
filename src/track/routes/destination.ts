import { percentEncoded } from '../../text/percent-encoded.ts';

/** What stands for a value of the click in a destination, each name with what it means. */
export const macroValues = {
  click_id: 'click_id',
  clickid: 'click_id',
  transaction_id: 'click_id',
  offer_id: 'offer_id',
  external_id: 'external_id',
  source: 'source',
  site_key: 'site_key',
  affiliate_id: 'site_key',
  aff_id: 'site_key',
  user_hash: 'user_hash',
  sub1: 'sub1',
  aff_sub: 'sub1',
  sub2: 'sub2',
  country: 'country',
  device: 'device',
  os: 'os',
  os_version: 'os_version',
  timestamp: 'timestamp',
  random: 'random',
  user_id: 'user_id',
  ip: 'ip',
  user_agent: 'user_agent',
  gaid: 'gaid',
  idfa: 'idfa',
} as const;
export type MacroValue = (typeof macroValues)[keyof typeof macroValues];

const macroPattern = /\{([a-z][a-z0-9_]*)\}/g;

/** A destination as it is filled: `fixed[0]`, the first value, `fixed[1]`, … */
export interface Destination {
  readonly fixed: readonly string[];
  readonly values: readonly MacroValue[];
}

/** What cannot be led to says why. */
export interface Unusable {
  readonly mistake: string;
}

/**
 * Reads an offer's destination. Only web addresses, whose scheme, host and port are fixed: what a click brings along
 * may decide what a page shows, never whose page it is. `clickParameter`: the parameter that is added with the click's
 * id where nothing else tells it.
 */
export function readDestination(text: string, clickParameter?: string): Destination | Unusable {
  const values: MacroValue[] = [];
  const mark = markFor(text);
  const marked = text.replaceAll(macroPattern, (macro, name: string) => {
    if (!isMacro(name)) return macro;
    values.push(macroValues[name]);
    return mark;
  });
  if (!URL.canParse(marked)) return { mistake: 'is no address' };
  const url = new URL(marked);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { mistake: 'is no http or https address' };
  if (url.username !== '' || url.password !== '') return { mistake: 'holds a user or password' };
  // What follows the fragment's beginning reaches nobody but the page.
  const sent = countOf(url.pathname + url.search, mark);
  if (clickParameter !== undefined && !values.slice(0, sent).includes('click_id')) {
    const pair = `${percentEncoded(clickParameter)}=${mark}`;
    url.search = url.search === '' ? pair : `${url.search}&${pair}`;
    // Before what the fragment has of them.
    values.splice(countOf(url.pathname + url.search, mark) - 1, 0, 'click_id');
  }
  if (countOf(url.origin, mark) > 0 || /[{}]/.test(url.host)) return { mistake: 'has a macro in its host' };
  const fixed = url.href.split(mark);
  return fixed.length === values.length + 1 ? { fixed, values } : { mistake: 'has a macro where none may be' };
}

/** Puts values in; each once, so that one that looks like a macro stays as it is. */
export function fillDestination({ fixed, values }: Destination, valueOf: (value: MacroValue) => string): string {
  let filled = fixed[0] as string;
  for (let index = 0; index < values.length; index++)
    filled += encoded(valueOf(values[index] as MacroValue)) + (fixed[index + 1] as string);
  return filled;
}

/** Macros in a destination that nobody fills, capitals among them: they stay as they are. */
export function unknownMacros(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].flatMap(([macro, name = '']) => (isMacro(name) ? [] : [macro]));
}

/** Whether conversions can be told by what the destination is handed. */
export function namesClick({ values }: Destination): boolean {
  return values.includes('click_id');
}

function isMacro(name: string): name is keyof typeof macroValues {
  return Object.hasOwn(macroValues, name);
}

/** Most values are of characters that stay as they are. */
function encoded(value: string): string {
  return /^[\w.~-]*$/.test(value) ? value : percentEncoded(value);
}

/** Letters that no address changes and that the text does not have, nor together with the letters before them. */
function markFor(text: string): string {
  // In one pass, since catalogs may say anything, at any length.
  const runs = Array.from(text.matchAll(/zmacr(o+)/gi), ([, run = '']) => run.length);
  const longest = runs.reduce((most, run) => Math.max(most, run), 0);
  return `zmacr${'o'.repeat(longest + 1)}`;
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}
