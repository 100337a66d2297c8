import { UsageError } from '../errors/errors.ts';
import type { WrittenSite } from './edit-sites.ts';
import type { OfferSelector } from './offer-rules.ts';
import { selectorText } from './selector-text.ts';

/** Changes of a site; what is absent stays as it is. */
export interface SiteChanges {
  name?: string | undefined;
  status?: 'active' | 'paused' | undefined;
  commission?: number | undefined;
  /** Commissions of some offers; `undefined` takes one out. */
  commissions?: readonly { of: OfferSelector; commission: number | undefined }[];
  /** Entries that are added to the rules. */
  allow?: readonly OfferSelector[];
  deny?: readonly OfferSelector[];
  /** Entries that are taken out of both lists. */
  remove?: readonly OfferSelector[];
  /** `null` takes the address out. */
  postback?: { url: string; method: 'GET' | 'POST' } | null | undefined;
}

/** Applies the changes to a site of the file. Throws `UsageError` for an entry to take out that is not there. */
export function changeSite(site: WrittenSite, changes: SiteChanges): void {
  const { name, status, commission, commissions = [], allow = [], deny = [], remove = [], postback } = changes;
  if (name !== undefined) site['name'] = name;
  if (status !== undefined) site['status'] = status;
  if (commission !== undefined) site['commission'] = commission;
  if (postback === null) delete site['postback'];
  // Its further parameters stay, whatever the address.
  else if (postback !== undefined) site['postback'] = { ...(site['postback'] as object | undefined), ...postback };
  changeCommissions(site, commissions);
  changeRules(site, { allow, deny, remove });
}

function changeCommissions(site: WrittenSite, commissions: NonNullable<SiteChanges['commissions']>): void {
  if (commissions.length === 0) return;
  const before = (site['commissions'] ?? []) as (OfferSelector & { commission: number })[];
  let entries = [...before];
  for (const { of, commission } of commissions) {
    const others = entries.filter((entry) => !isSame(entry, of));
    if (commission === undefined && others.length === entries.length) throw notThere(of);
    entries = commission === undefined ? others : [...others, { ...of, commission }];
  }
  put(site, 'commissions', entries);
}

function changeRules(
  site: WrittenSite,
  { allow, deny, remove }: Required<Pick<SiteChanges, 'allow' | 'deny' | 'remove'>>,
): void {
  if (allow.length + deny.length + remove.length === 0) return;
  const rules = { ...(site['offers'] as Record<string, OfferSelector[]> | undefined) };
  const gone = new Set<OfferSelector>();
  for (const [list, added] of [
    ['allow', allow],
    ['deny', deny],
  ] as const) {
    const entries = rules[list] ?? [];
    const kept = entries.filter((entry) => {
      const named = remove.find((each) => isSame(entry, each));
      if (named !== undefined) gone.add(named);
      return named === undefined;
    });
    const news = added.filter((selector, place) =>
      [...kept, ...added.slice(0, place)].every((entry) => !isSame(entry, selector)),
    );
    put(rules, list, [...kept, ...news]);
  }
  const absent = remove.find((selector) => !gone.has(selector));
  if (absent !== undefined) throw notThere(absent);
  if (Object.keys(rules).length === 0) delete site['offers'];
  else site['offers'] = rules;
}

/** An empty list is left out: for a list of what is allowed it would be a mistake. */
function put(object: Record<string, unknown>, key: string, entries: readonly unknown[]): void {
  if (entries.length === 0) delete object[key];
  else object[key] = entries;
}

function isSame(one: OfferSelector, other: OfferSelector): boolean {
  const { offer, source, category, format } = one;
  return (
    offer === other.offer &&
    source === other.source &&
    format === other.format &&
    category?.toLowerCase() === other.category?.toLowerCase()
  );
}

function notThere(selector: OfferSelector): UsageError {
  return new UsageError(
    `the site has no entry ${selectorText(selector)}, and nothing is changed; \`offerline sites list --json\` shows what it has`,
  );
}
