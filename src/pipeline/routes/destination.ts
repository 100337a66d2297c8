import { destinationMacros, type DestinationMacro, type TrackerSettings } from '../../kit/config/tracker-settings.ts';
import { macrosIn, withPlainMacros } from '../../kit/text/macros.ts';
import { percentEncoded } from '../../kit/text/percent-encoded.ts';

/** The macros of destinations, by all their names: ours, advertisers', and those of links of ayeT and AdGem. */
export const macroValues: ReadonlyMap<string, DestinationMacro> = new Map([
  ...destinationMacros.map((name) => [name, name] as const),
  ['clickid', 'click_id'],
  ['transaction_id', 'click_id'],
  ['external_identifier', 'click_id'],
  ['playerid', 'click_id'],
  ['affiliate_id', 'site_key'],
  ['aff_id', 'site_key'],
  ['aff_sub', 'sub1'],
]);

/** Settings of a source's destinations. */
export type DestinationSettings = Pick<TrackerSettings['sources'][string], 'append_click_id'> &
  Partial<Pick<TrackerSettings['sources'][string], 'macros'>>;

const macroPattern = /\{(\w+)\}/g;

/** A destination as it is filled: `fixed[0]`, the first value, `fixed[1]`, … */
export interface Destination {
  readonly fixed: readonly string[];
  readonly values: readonly DestinationMacro[];
}

/** A destination that cannot be used, with the reason. */
export interface Unusable {
  readonly mistake: string;
}

/**
 * Reads an offer's destination. Only web addresses, whose scheme, host and port are fixed: what a click brings along
 * may decide what a page shows, never whose page it is. Macros may be written as other systems write them. `settings`:
 * those of its source.
 */
export function readDestination(written: string, settings?: DestinationSettings): Destination | Unusable {
  const clickParameter = settings?.append_click_id;
  const text = withPlainMacros(written, (name) => meaningOf(name, settings) !== undefined);
  const values: DestinationMacro[] = [];
  const mark = markFor(text);
  const marked = text.replaceAll(macroPattern, (macro, name: string) => {
    const meaning = meaningOf(name, settings);
    if (meaning === undefined) return macro;
    values.push(meaning);
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

/** Fills in values, each once: a value that looks like a macro stays as it is. */
export function fillDestination({ fixed, values }: Destination, valueOf: (value: DestinationMacro) => string): string {
  let filled = fixed[0] as string;
  for (let index = 0; index < values.length; index++)
    filled += encoded(valueOf(values[index] as DestinationMacro)) + (fixed[index + 1] as string);
  return filled;
}

/** Macros in a destination that the tracker does not fill, capitals among them, each with a remedy. */
export function unknownMacros(written: string, settings?: DestinationSettings): { macro: string; remedy: string }[] {
  const isKnown = (name: string) => meaningOf(name, settings) !== undefined;
  return macrosIn(withPlainMacros(written, isKnown)).flatMap(({ written: macro, name }) => {
    if (name === '' || isKnown(name)) return [];
    const own = name.toLowerCase();
    const remedy = isKnown(own)
      ? `{${own}} is meant, perhaps`
      : `tracker.sources.<source>.macros of offerline.json can say which macro of ours "${name}" is`;
    return [{ macro, remedy }];
  });
}

/** Returns true for a destination that carries the click id, so that its conversions can be reported. */
export function namesClick({ values }: Destination): boolean {
  return values.includes('click_id');
}

function meaningOf(name: string, settings: DestinationSettings | undefined): DestinationMacro | undefined {
  const { macros = {} } = settings ?? {};
  return Object.hasOwn(macros, name) ? macros[name] : macroValues.get(name);
}

/** Most values are of characters that stay as they are. */
function encoded(value: string): string {
  return /^[\w.~-]*$/.test(value) ? value : percentEncoded(value);
}

/** Letters that no address changes and that the text does not have, nor together with the letters before them. */
function markFor(text: string): string {
  // In one pass, since catalogs may say anything, at any length.
  const runs = Array.from(text.matchAll(/zmacr(o+)/gi), ([, run = '']) => run.length);
  const longest = runs.reduce((one, other) => Math.max(one, other), 0);
  return `zmacr${'o'.repeat(longest + 1)}`;
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}
