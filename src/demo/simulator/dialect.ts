import type { Lacks, SimulatedConversion, SimulatedOffer } from './offers.ts';

/** A request as a dialect sees it. */
export interface Asked {
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  /** The body's fields where it is a form. */
  form: URLSearchParams;
  /** The body where it is JSON. */
  json: Record<string, unknown>;
}

export interface NetworkAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** A link of an offer that somebody followed. */
export interface VisitedLink {
  /** The network's id of the offer, or of its campaign. */
  offerId: string;
  /** What the link carries for the affiliate; null where it carries nothing. */
  clickId: string | null;
}

/** A network's API: requests that it understands, and its answers. */
export interface Dialect<Offer = SimulatedOffer> {
  /** Value of `secrets` in `sources.json`. */
  secrets: (key: string) => Record<string, string>;
  /** An offer's id as the catalog has it. */
  idOf: (offer: Offer) => string;
  /** Parameter of the first page; absent where there are no pages. */
  firstPage?: { parameter: string; value: string };
  /** Currency of its amounts, where its answers do not say it. */
  currency?: string;
  lacks?: Lacks;
  isSinglePage?: boolean;
  /** True where each offer's link is asked for by a request of its own. */
  isAskedByOffer?: boolean;
  /** True where a list never has all offers. */
  isDelta?: boolean;
  /** The key that it wants, in whatever form. */
  isAuthorised(asked: Asked, key: string): boolean;
  unauthorised: NetworkAnswer;
  /**
   * Answers with a page of its list; `offers` are all it has. Some networks echo the key; links lead to `address`.
   * Absent where it lists none.
   */
  page?(asked: Asked, offers: readonly Offer[], own: { key: string; address: string }): NetworkAnswer;
  /** Reads a link that is followed; undefined for every other request. */
  followed?(asked: Asked): VisitedLink | undefined;
  /**
   * Values of the macros in the address that its affiliate gave for postbacks, where it lists no conversions. A name is
   * in braces there; a macro of another form is named with all its signs.
   */
  postbackMacros?(conversion: SimulatedConversion, key: string): Record<string, string>;
  /** Recognises requests for conversions and answers them; absent where the network lists none. */
  conversions?: {
    isAsked: (asked: Asked) => boolean;
    page: (asked: Asked, conversions: readonly SimulatedConversion[]) => NetworkAnswer;
    /** Zone of its times, where its answers do not say it. */
    timeZone?: string;
    /** A conversion never changes after it was listed as approved. */
    isFinal?: boolean;
  };
  /** Answer to requests that come too often. */
  throttled: NetworkAnswer;
}

/** A page by its number from 1 and its size; the size given is at most `most`. */
export function pageOf<Item>(items: readonly Item[], page: number, size: number, most = Infinity): Item[] {
  const given = Math.min(size, most);
  return items.slice((page - 1) * given, page * given);
}

/** A plain text as networks keep it. */
export function asHtml(text: string): string {
  return `<p>${asEntities(text).replaceAll('\n', '</p><p class="more">')}</p><script>track("x")</script>`;
}

/** A plain text whose special characters are entities. */
export function asEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Conversions of the days that are asked for, as `YYYY-MM-DD`, both included. */
export function ofDays(
  conversions: readonly SimulatedConversion[],
  from: unknown,
  to: unknown,
): readonly SimulatedConversion[] {
  return conversions.filter(({ at }) => at.slice(0, 10) >= String(from) && at.slice(0, 10) <= String(to));
}

/** Returns a parameter of a followed link; null where it is absent or empty. */
export function carried({ query }: Asked, parameter: string): string | null {
  const value = query.get(parameter);
  return value === '' ? null : value;
}

/** Reads links such as `/follow/<offer>?s1=<click id>`, whose query carries the affiliate's click id. */
export function followedBy(parameter: string): (asked: Asked) => VisitedLink | undefined {
  return (asked) => {
    const offerId = /^\/follow\/(\w+)$/.exec(asked.path)?.[1];
    return offerId === undefined ? undefined : { offerId, clickId: carried(asked, parameter) };
  };
}
