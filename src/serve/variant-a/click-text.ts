import { momentOf } from '../../stage/as-of.ts';
import { withOffset } from '../moments.ts';
import { amountText, decimalOf, publishedAmount } from '../money.ts';
import type { FoundClick, FoundConversion } from '../snapshot-clicks.ts';

/** The body of a click lookup. Payouts are after the site's commission, as everywhere that a publisher sees money. */
export function clickText({ click, conversions }: FoundClick, commission: string): string {
  const shown = { ...click, clicked_at: momentText(click.clicked_at) };
  // No postbacks are kept yet.
  return `{"success":true,"click":${JSON.stringify(shown)},"conversions":[${conversions.map((conversion) => conversionText(conversion, commission)).join(',')}],"postbacks":[]}`;
}

function conversionText({ conversion_id, event_id, status, payout, credited_at, reversed_at }: FoundConversion, commission: string): string {
  const start = JSON.stringify({ conversion_id, event_id, status }).slice(0, -1);
  const money = payout === null ? 'null' : amountText(publishedAmount(decimalOf(payout), decimalOf(commission)));
  const moments = JSON.stringify({ credited_at: momentText(credited_at), reversed_at: momentText(reversed_at) }).slice(1);
  return `${start},"payout":${money},${moments}`;
}

function momentText(microseconds: string | null): string | null {
  return microseconds === null ? null : withOffset(momentOf(BigInt(microseconds)));
}
