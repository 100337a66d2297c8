import { unfilledMacro } from '../../kit/text/macros.ts';
import { percentDecoded } from '../../kit/text/percent-encoded.ts';
import { readQueryString, repeated, undecodable, type Query } from '../../kit/http/query.ts';
import { userIdForm, userIdRule } from '../../kit/vocabulary/user-id.ts';

/** A link as somebody followed it. */
export interface FollowedLink {
  offerId: number;
  userId: string;
  siteKey: string;
  sub1: string | undefined;
  sub2: string | undefined;
  /** All parameters, for macros. */
  query: Query;
}

/** The reason why an address is no link of a click. */
export interface LinkMistake {
  status: 404 | 422;
  message: string;
}

const maxOffer = 2 ** 31 - 1;
const userForm = new RegExp(userIdForm, 'u');
const maxSub = 500;

/** Captures offer, user, site and query. */
const linkPattern = /^\/redirect\/manual-offer\/([^/?]*)\/user\/([^/?]*)\/site\/([^/?]*)(?:\?(.*))?$/s;

/** Reads `/redirect/manual-offer/<id>/user/<user_id>/site/<site_key>?sub1=&sub2=`, as it came. */
export function readLink(url: string): FollowedLink | LinkMistake {
  const link = linkPattern.exec(url);
  if (link === null) return { status: 404, message: 'there is no such page' };
  const [, offer = '', userPart = '', sitePart = '', search] = link;
  const offerId = /^[1-9]\d{0,9}$/.test(offer) ? Number(offer) : 0;
  if (offerId === 0 || offerId > maxOffer) return { status: 404, message: 'there is no such offer' };
  const userId = percentDecoded(userPart);
  const siteKey = percentDecoded(sitePart);
  if (userId === undefined || siteKey === undefined) return { status: 404, message: 'the address is not UTF-8' };
  if (!userForm.test(userId)) return { status: 422, message: userIdRule };
  // In a log of clicks it means that there is no value, and the row would be rejected.
  if (userId === String.raw`\N`) return mistake('user_id', String.raw`is \N, by which databases write what is absent`);
  // The placeholder that publishers replace: `{user_id}`, or in reports `[USER_ID]`.
  if (unfilledMacro(userId)?.name.toLowerCase() === 'user_id')
    return mistake('user_id', 'was not put in place of the placeholder');
  const query = search === undefined ? noQuery : readQueryString(search);
  const sub1 = readSub(query, 'sub1');
  if (typeof sub1 === 'object') return sub1;
  const sub2 = readSub(query, 'sub2');
  if (typeof sub2 === 'object') return sub2;
  return { offerId, userId, siteKey, sub1, sub2, query };
}

function readSub(query: Query, name: 'sub1' | 'sub2'): string | undefined | LinkMistake {
  const value = query[name];
  if (value === repeated) return mistake(name, 'is given twice');
  if (value === undecodable) return mistake(name, 'is not percent-encoded UTF-8');
  if (value !== undefined && isLonger(value, maxSub)) return mistake(name, `has at most ${maxSub} characters`);
  return value;
}

const noQuery: Query = readQueryString('');

function mistake(name: string, rule: string): LinkMistake {
  return { status: 422, message: `${name} ${rule}` };
}

/** Counts characters, of which some take two places in a text. */
function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  return text.length > 2 * max || Array.from(text).length > max;
}
