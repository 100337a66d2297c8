import { commissionOf } from '../../kit/sites/offer-commissions.ts';
import type { SiteTerms } from '../../kit/sites/site-terms.ts';
import { momentOf } from '../../kit/time/moment.ts';
import { decimalOf, decimalText } from '../../kit/text/decimal-text.ts';
import { withOffset } from '../../kit/time/iso-moment.ts';
import { publishedAmountText, publishedAmount } from '../offers/money.ts';
import type { FoundClick, FoundConversion, FoundPostback } from '../../pipeline/clicks/snapshot-clicks.ts';

/** The body of a click lookup. Payouts are after commission, as everywhere that a publisher sees money. */
export function clickText(
  { click: { offer_source, ...click }, conversions, postbacks }: FoundClick,
  terms: Pick<SiteTerms, 'commission' | 'commissions'>,
): string {
  const shown = { ...click, clicked_at: momentText(click.clicked_at) };
  const commission = commissionOf(
    terms.commission,
    terms.commissions,
  )({ id: click.offer_id ?? 0, source: offer_source ?? '' });
  const conversionTexts = conversions.map((conversion) => conversionText(conversion, commission));
  return `{"success":true,"click":${JSON.stringify(shown)},"conversions":[${conversionTexts.join(',')}],"postbacks":[${postbacks.map(postbackText).join(',')}]}`;
}

function conversionText(
  { conversion_id, event_id, status, payout, credited_at, reversed_at, reason }: FoundConversion,
  commission: string,
): string {
  const start = JSON.stringify({ conversion_id, event_id, status }).slice(0, -1);
  // The commission goes by the offer, which is not known then, also where the advertiser gave an amount.
  const money =
    payout === null || status === 'unattributed'
      ? 'null'
      : publishedAmountText(publishedAmount(decimalOf(payout), decimalOf(commission)));
  const rest = { credited_at: momentText(credited_at), reversed_at: momentText(reversed_at), reason };
  return `${start},"payout":${money},${JSON.stringify(rest).slice(1)}`;
}

/** The reward as postbacks have it: in the site's points, frozen when the postback was written. */
function postbackText({ event, reward, state, attempts, last_attempt_at, last_status }: FoundPostback): string {
  const rest = JSON.stringify({ state, attempts, last_attempt_at: momentText(last_attempt_at), last_status }).slice(1);
  return `{"event":${JSON.stringify(event)},"reward":${decimalText(decimalOf(reward))},${rest}`;
}

function momentText(microseconds: string | null): string | null {
  return microseconds === null ? null : withOffset(momentOf(BigInt(microseconds)));
}
