import type { Told } from './told.ts';
import type { ToldStore } from './told-store.ts';

/**
 * The id of a network's conversion in our logs, with what was told of it. It begins with its source, since two networks
 * may give the same one: `net-5`. Where that could be another conversion (`1-5` of `net` where there is a source
 * `net-1`; `5~2`, which could be `5` credited again) a slash, which no source's name has, takes the place of the line,
 * and tildes are doubled. What was told once keeps its id, whatever sources come later.
 */
export function emittedAs(
  source: string,
  networkId: string,
  otherSources: readonly string[],
  store: Pick<ToldStore, 'get'>,
): { id: string; told: Told | undefined } {
  const plain = `${source}-${networkId}`;
  const apart = `${source}/${networkId.replaceAll('~', '~~')}`;
  const told = store.get(plain);
  // Until 2026-11-25 nobody wrote down whose a conversion is.
  if (told !== undefined && (told.source === null || told.source === source)) return { id: plain, told };
  const toldApart = store.get(apart);
  if (toldApart !== undefined) return { id: apart, told: toldApart };
  const isAnothers = (other: string) => other.startsWith(`${source}-`) && plain.startsWith(`${other}-`);
  const isAmbiguous = told !== undefined || networkId.includes('~') || otherSources.some(isAnothers);
  return { id: isAmbiguous ? apart : plain, told: undefined };
}
