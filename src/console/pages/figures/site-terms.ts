import { html, type Html } from '../../../kit/html/html.ts';
import { offerCommissions, type OfferCommission } from '../../../kit/sites/offer-commissions.ts';
import { canonicalRules, type OfferRules } from '../../../kit/sites/offer-rules.ts';
import { rulesText, selectorText } from '../../../kit/sites/selector-text.ts';
import { commissionText, type Site } from '../../../kit/sites/sites.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { moment, percentText, percentValue } from '../../html/values.ts';

/** Terms of a site, of one moment. */
interface SiteTerms {
  /** Decimal text. */
  commission: string;
  commissions: readonly OfferCommission[];
  offers: OfferRules;
  reward_rate: number;
  rate_limit_per_hour: number;
  variant: string;
}

export function writtenTerms(site: Site): SiteTerms {
  const { offers = {}, reward_rate, rate_limit_per_hour, variant } = site;
  const commissions = offerCommissions(site.commissions);
  return { commission: commissionText(site), commissions, offers, reward_rate, rate_limit_per_hour, variant };
}

/** Returns undefined where the snapshot was published without the site. */
export function publishedTerms(row: ConsoleRow<'site'>): SiteTerms | undefined {
  const { commission, reward_rate, rate_limit_per_hour, variant } = row;
  if (commission === null || reward_rate === null || rate_limit_per_hour === null || variant === null) return undefined;
  return {
    commission: commissionText({ commission: Number(commission) }),
    commissions: JSON.parse(row.commissions ?? '[]') as OfferCommission[],
    offers: JSON.parse(row.offers ?? '{}') as OfferRules,
    reward_rate,
    rate_limit_per_hour,
    variant,
  };
}

interface Term {
  title: string;
  /** Equal where the term is the same. */
  exact: (terms: SiteTerms) => unknown;
  show: (terms: SiteTerms) => Html | string;
}

const shownTerms: readonly Term[] = [
  {
    title: 'Commission',
    exact: ({ commission, commissions }) => [commission, commissions],
    show: ({ commission, commissions }) =>
      html`${percentValue(commission)} of a payout${commissions.map((each) => `, ${exceptionText(each)}`).join('')}`,
  },
  { title: 'Offers', exact: ({ offers }) => canonicalRules(offers), show: ({ offers }) => rulesText(offers) },
  {
    title: 'Points for one USD',
    exact: ({ reward_rate }) => reward_rate,
    show: ({ reward_rate }) => String(reward_rate),
  },
  {
    title: 'Requests per hour',
    exact: ({ rate_limit_per_hour, variant }) => [rate_limit_per_hour, variant],
    show: ({ rate_limit_per_hour, variant }) => `${rate_limit_per_hour} for each bucket, variant ${variant}`,
  },
];

function exceptionText({ offer, source, commission }: OfferCommission): string {
  return `${percentText(commission)} of ${selectorText(offer === null ? { source: source ?? '' } : { offer })}`;
}

/**
 * The terms as `sites.json` says them now, and where this snapshot has others, these too: each whole, since a mixture
 * of both may never have held.
 *
 * @param changedAt When the commission of the snapshot changed last.
 */
export function termFacts(
  written: SiteTerms | undefined,
  published: SiteTerms | undefined,
  changedAt: string | null,
): [string, Html | false][] {
  return shownTerms.map(({ title, exact, show }) => {
    const now = written ?? published;
    if (now === undefined) return [title, false];
    const differs = published !== undefined && JSON.stringify(exact(now)) !== JSON.stringify(exact(published));
    const before = differs && html`; ${show(published)} in this snapshot`;
    const changed = title === 'Commission' && changedAt !== null && html`, changed ${moment(changedAt)}`;
    return [title, html`${show(now)}${before}${changed}`];
  });
}
