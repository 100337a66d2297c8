import { macrosIn, withPlainMacros } from '../text/macros.ts';

/** Fields of a postback, each also the name of a macro, in the order in which they are appended to an address. */
export const postbackFields = ['event', 'site_key', 'user_id', 'click_id', 'reward', 'signature'] as const;
export type PostbackField = (typeof postbackFields)[number];

/**
 * Values that a site may ask for beside the fields, each also the name of a macro. None is signed by `signature`, and
 * each is empty where it is not known.
 */
export const furtherValues = {
  conversion_id: 'The advertiser’s id of the conversion',
  offer_id: 'The offer’s id, as in the list of offers',
  event_id: 'The milestone reached, of a multireward offer',
  sub1: 'As it was added to the link that was clicked',
  sub2: 'As it was added to the link that was clicked',
  reason: 'Why it was rejected or charged back, as the advertiser says',
  payout: 'USD after the site’s commission, with up to 4 places; of a reject or chargeback that of its credit',
  status: '`credited`, `rejected`, `charged_back` or `pending`, as conversions say it',
} as const;
export type FurtherValue = Exclude<keyof typeof furtherValues, 'status'>;

/** Names of all macros. */
export type PostbackMacro = PostbackField | keyof typeof furtherValues;
export const postbackMacros = [...postbackFields, ...(Object.keys(furtherValues) as (keyof typeof furtherValues)[])];

/** A publisher's address in parts, so that a value can change nothing but its own place. */
export interface PostbackAddress {
  /**
   * Origin, such as `https://partner.example:8443`, in the spelling of URLs: a host of digits is in plain dotted form.
   */
  origin: string;
  /** Path and query, percent-encoded where they must be, with macros in between. */
  target: (string | { macro: PostbackMacro })[];
}

const macroPattern = new RegExp(`\\{(${postbackMacros.join('|')})\\}`);
const everyMacro = new RegExp(macroPattern, 'g');

/**
 * Names that other systems give the fields. Their meanings are not always ours, so they are reported and not filled.
 */
const namesElsewhere: Record<PostbackField, string> = {
  event: 'event_type type',
  site_key: 'sitekey site site_id siteid app_id appid placement_id',
  user_id: 'userid user uid subid sub_id playerid player_id external_identifier publisher_user_id',
  click_id: 'clickid click cid transaction_id transactionid tid aff_sub',
  reward: 'reward_amount amount amt points coins value currency_amount',
  signature: 'sign sig hash checksum secret security_hash',
};

/**
 * Parses an address of `sites.json`, or returns its mistake. Macros may be in other systems' forms, `%7Buser_id%7D`,
 * `{{user_id}}`, `[user_id]` and so on. The mistake never repeats the address, which may contain credentials, but for a
 * macro whose name is one of those above.
 */
export function readPostbackAddress(written: string): PostbackAddress | { mistake: string } {
  const text = withPlainMacros(written, isMacro);
  if (/[\s\p{Cc}]/u.test(text)) return { mistake: 'has a blank or a control character; a blank is written %20' };
  const [, scheme = '', authority = '', target = '', fragment = ''] =
    /^([^:/?#]*):\/\/([^/?#\\]*)([^#]*)(.*)$/u.exec(text) ?? [];
  if (macroPattern.test(scheme + authority + fragment)) return { mistake: 'has a macro outside of its path and query' };
  if (!/^https?$/i.test(scheme)) return { mistake: 'must begin with http:// or https://' };
  if (authority.includes('@'))
    return { mistake: 'has a user name or password before its host, which is not sent; use a parameter of the query' };
  const url = URL.parse(`${scheme}://${authority}`);
  if (url !== null && /[{}]/.test(url.host)) return { mistake: 'has a macro outside of its path and query' };
  if (url === null || target.startsWith('\\')) return { mistake: 'has no host that can be understood' };
  // A path of dots is not normalised: with values in it, normalising would let a value remove the segments before it.
  const parts = (target.startsWith('/') ? target : `/${target}`).split(everyMacro);
  const foreign = macrosIn(text).find(({ name }) => !isMacro(name) && macroMeant(name) !== undefined);
  if (foreign !== undefined)
    return { mistake: `has ${foreign.written}, which nobody fills: write {${macroMeant(foreign.name)}}` };
  // Splitting by a pattern with one group gives text and macro in turns.
  if (parts.some((part, index) => index % 2 === 0 && /\{[\w-]*\}/.test(part))) {
    const macros = postbackMacros.map((field) => `{${field}}`).join(' ');
    return { mistake: `has a macro that is none of ${macros}: write one of these, or no braces` };
  }
  return {
    origin: url.origin,
    target: parts.map((part, index) => (index % 2 === 1 ? { macro: part as PostbackMacro } : encodeLiteral(part))),
  };
}

function isMacro(name: string): name is PostbackMacro {
  return (postbackMacros as readonly string[]).includes(name);
}

function macroMeant(name: string): PostbackMacro | undefined {
  const word = name.toLowerCase();
  return (
    postbackMacros.find((macro) => macro === word) ??
    postbackFields.find((field) => namesElsewhere[field].split(' ').includes(word))
  );
}

/** Percent-encodes characters that a path or query may not have; encoded ones stay. */
function encodeLiteral(text: string): string {
  return text.toWellFormed().replaceAll(/[^\w\-.~:/?#[\]@!$&'()*+,;=%]/gu, encodeURIComponent);
}
