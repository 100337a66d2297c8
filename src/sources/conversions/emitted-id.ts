import { hash } from 'node:crypto';
import { isPrintableAscii, maxConversionId, maxCreditedId } from '../../kit/vocabulary/conversion-id.ts';
import type { EmittedConversion } from './emitted-conversions.ts';
import type { EmittedStore } from './emitted-store.ts';

/** Hex digits of a digest: with the longest name of a source the id has room for its suffix. */
const digestLength = 48;

/**
 * Returns the id of a network's conversion in our logs, and what was emitted under it. Two networks may use the same
 * ids, so ours begins with the source: `net-5`. Where that could be another conversion (`1-5` of `net` beside a source
 * `net-1`; `5~2`, which could be `5` credited again) a slash, which no source's name has, replaces the hyphen, and
 * tildes are doubled. An id that landing would not take is a digest after a slash and a single tilde. A conversion
 * keeps the id that it was emitted under and that landing took, whatever sources are added later.
 */
export function emittedAs(
  source: string,
  networkId: string,
  otherSources: readonly string[],
  store: Pick<EmittedStore, 'get'>,
): { id: string; emitted: EmittedConversion | undefined } {
  const plain = `${source}-${networkId}`;
  const apart = `${source}/${networkId.replaceAll('~', '~~')}`;
  const isTaken = (id: string) => id.length <= maxConversionId && isPrintableAscii(id);
  const emitted = store.get(plain);
  // Until version 0.2 a number's id was its spelling, and some programs write whole numbers so.
  const asFraction = /^\d+$/.test(networkId) ? store.get(`${plain}.0`) : undefined;
  if (emitted === undefined && asFraction?.source === source) return { id: `${plain}.0`, emitted: asFraction };
  if (emitted?.source === source && isTaken(plain)) return { id: plain, emitted };
  const emittedApart = store.get(apart);
  if (emittedApart?.source === source && isTaken(apart)) return { id: apart, emitted: emittedApart };
  // `b/5` of `a` is `a-b/5`, as `5` of `a-b` is where a slash replaces its hyphen.
  const isAnothers = (other: string) =>
    other.startsWith(`${source}-`) && (plain.startsWith(`${other}-`) || plain.startsWith(`${other}/`));
  const isAmbiguous = emitted !== undefined || networkId.includes('~') || otherSources.some(isAnothers);
  const id = isAmbiguous ? apart : plain;
  if (id.length <= maxCreditedId && isPrintableAscii(id)) return { id, emitted: undefined };
  const digest = `${source}/~${hash('sha256', networkId, 'hex').slice(0, digestLength)}`;
  return { id: digest, emitted: store.get(digest) };
}
