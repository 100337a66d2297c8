import type { EmittedConversion } from './emitted-conversions.ts';
import type { EmittedStore } from './emitted-store.ts';

/**
 * Returns the id of a network's conversion in our logs, and what was emitted under it. Two networks may use the same
 * ids, so ours begins with the source: `net-5`. Where that could be another conversion (`1-5` of `net` beside a source
 * `net-1`; `5~2`, which could be `5` credited again) a slash, which no source's name has, replaces the hyphen, and
 * tildes are doubled. A conversion keeps the id that it was emitted under, whatever sources are added later.
 */
export function emittedAs(
  source: string,
  networkId: string,
  otherSources: readonly string[],
  store: Pick<EmittedStore, 'get'>,
): { id: string; emitted: EmittedConversion | undefined } {
  const plain = `${source}-${networkId}`;
  const apart = `${source}/${networkId.replaceAll('~', '~~')}`;
  const emitted = store.get(plain);
  if (emitted?.source === source) return { id: plain, emitted };
  const emittedApart = store.get(apart);
  if (emittedApart?.source === source) return { id: apart, emitted: emittedApart };
  // `b/5` of `a` is `a-b/5`, as `5` of `a-b` is where a slash replaces its hyphen.
  const isAnothers = (other: string) =>
    other.startsWith(`${source}-`) && (plain.startsWith(`${other}-`) || plain.startsWith(`${other}/`));
  const isAmbiguous = emitted !== undefined || networkId.includes('~') || otherSources.some(isAnothers);
  return { id: isAmbiguous ? apart : plain, emitted: undefined };
}
