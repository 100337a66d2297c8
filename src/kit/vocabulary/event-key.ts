import { hash } from 'node:crypto';
import type { EventKind } from './values.ts';

/** Swaps neighbouring groups of so many bits in SQL's UBIGINT; the mask has every second group. */
function swapped(number: string, bits: number, mask: bigint): string {
  return `(((${number} & ${mask}::UBIGINT) << ${bits}) | ((${number} >> ${bits}) & ${mask}::UBIGINT))`;
}

/**
 * SQL for the key of a text, a BIGINT of 60 bits: what `('0x' || left(md5(text), 15))::BIGINT` gives, in a seventh of
 * its time. DuckDB's number of a digest counts the bytes from its other end, so they change places.
 */
export function textKey(text: string): string {
  const number = `(md5_number(${text}) & 18446744073709551615::UHUGEINT)::UBIGINT`;
  const pairs = swapped(swapped(number, 8, 0x00ff_00ff_00ff_00ffn), 16, 0x0000_ffff_0000_ffffn);
  return `((((${pairs} & 4294967295::UBIGINT) << 32) | (${pairs} >> 32)) >> 4)::BIGINT`;
}

/** Computes the same key in JavaScript. */
export function keyOfText(text: string): bigint {
  return BigInt(`0x${hash('md5', text, 'hex').slice(0, 15)}`);
}

/**
 * SQL for the `event_key` of each kind's events: the first 60 bits of the MD5 of what makes the event one. Every engine
 * computes the same number, so the search for duplicates and clicks reads eight bytes of an event and no text.
 */
export const eventKey: Record<EventKind, string> = {
  clicks: textKey('click_id'),
  conversions: textKey(`kind || ':' || conversion_id`),
};

/** Keys of one range: what is done with so many takes some two hundred megabytes. */
const keysAtOnce = { joined: 4_000_000, compared: 8_000_000, sorted: 12_000_000 };
const keyBits = 60;

/**
 * SQL conditions on `event_key` that part so many keys into ranges, ascending, few enough each to be worked on in
 * bounded memory: keys are spread evenly. One that is always true where all fit.
 */
export function keyRanges(keys: number, work: keyof typeof keysAtOnce): string[] {
  const bits = Math.max(0, Math.ceil(Math.log2(keys / keysAtOnce[work])));
  if (bits === 0) return ['true'];
  return Array.from({ length: 2 ** bits }, (_, range) => `event_key >> ${keyBits - bits} = ${range}`);
}

/**
 * SQL for the keys that more than one row has, each once. To sort them takes a quarter less time than grouping, and
 * half the memory.
 */
export function repeatedEventKeys(rows: string, condition: string): string {
  return `SELECT DISTINCT event_key FROM (
       SELECT event_key, lag(event_key) OVER (ORDER BY event_key) AS key_before FROM ${rows} WHERE ${condition})
     WHERE event_key = key_before`;
}
