import { percentDecoded, percentEncoded } from '../../kit/text/percent-encoded.ts';
import { withPlainAmpersands } from '../../kit/text/macros.ts';

/** Where the links of a network take our click id: a parameter of the query, or a text that it replaces. */
export type ClickIdPlace = { parameter: string } | { macro: string };

/** Our macro, which the tracker fills for each click. */
const clickId = '{click_id}';

/**
 * Puts our macro for the click id where the network reads it, once: a parameter that is there already gets it in place
 * of its value. A link without the macro is returned as it is; publishing warns of such.
 */
export function withClickId(link: string, place: ClickIdPlace): string {
  if ('parameter' in place) return withParameter(withPlainAmpersands(link), place.parameter);
  const encoded = encodeURIComponent(place.macro);
  const spellings = [place.macro, encoded, encoded.replaceAll(/%../g, (byte) => byte.toLowerCase())];
  return spellings.reduce((text, spelling) => text.replaceAll(spelling, clickId), link);
}

function withParameter(link: string, parameter: string): string {
  const [address = '', ...fragment] = link.split('#');
  const [path = '', ...query] = address.split('?');
  const pair = `${percentEncoded(parameter)}=${clickId}`;
  let isThere = false;
  const pairs = query
    .join('?')
    .split('&')
    .flatMap((part) => {
      if (part === '') return [];
      if (decoded(part.split('=', 1)[0] ?? '') !== parameter) return [part];
      const first = isThere ? [] : [pair];
      isThere = true;
      return first;
    });
  if (!isThere) pairs.push(pair);
  return [`${path}?${pairs.join('&')}`, ...fragment].join('#');
}

function decoded(name: string): string {
  return percentDecoded(name.replaceAll('+', ' ')) ?? name;
}
