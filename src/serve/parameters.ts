import { repeated, undecodable } from './query.ts';
import type { Query } from './query.ts';
import { Refusal } from './refusal.ts';

/** The largest integer that any parameter may be. */
export const largestInteger = 2 ** 31 - 1;

/** `offer`: single-reward offers; `multireward`: those with milestones. */
export type OfferType = 'offer' | 'multireward';

/** A parameter's text; undefined where it is absent or empty. Throws `Refusal` where it cannot be told what it is. */
export function readText(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === repeated) throw new Refusal('wrong_parameter', `${name} is given more than once; send it once`);
  if (value === undecodable) throw new Refusal('wrong_parameter', `${name} is not percent-encoded UTF-8`);
  return value;
}

/** A parameter of plain digits within bounds. */
export function readInteger(query: Query, name: string, from: number, to = largestInteger): number | undefined {
  const text = readText(query, name);
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= from && value <= to)) {
    throw new Refusal('wrong_parameter', `${name} must be an integer from ${from} to ${to}, written in plain digits`);
  }
  return value;
}

/** A parameter that is one word of a list, in exactly that spelling. */
export function readChoice<Word extends string>(query: Query, name: string, words: readonly Word[]): Word | undefined {
  const text = readText(query, name);
  if (text === undefined) return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new Refusal('wrong_parameter', `${name} must be one of ${words.join(', ')}`);
  return word;
}

/** `type` has error codes of its own. */
export function readOfferType(query: Query): OfferType | undefined {
  const text = readText(query, 'type');
  if (text === undefined || text === 'offer' || text === 'multireward') return text;
  throw new Refusal('wrong_type', 'type must be offer or multireward');
}
