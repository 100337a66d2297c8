import { amountText, decimalOf, publishedAmount } from './money.ts';
import type { Decimal } from './money.ts';
import type { ServedOffer } from './served-offer.ts';

/**
 * A snapshot's published money at one commission. Worked out when it is first asked for and then kept: a page shows a
 * hundred offers of maybe ten thousand.
 */
export class Prices {
  readonly #commission: Decimal;
  readonly #payouts: (bigint | undefined)[];
  readonly #payoutTexts: (string | undefined)[];
  readonly #eventPayoutTexts: (readonly string[] | undefined)[];

  /** Commission as decimal text; the number of the snapshot's active offers. */
  constructor(commission: string, offers: number) {
    this.#commission = decimalOf(commission);
    this.#payouts = Array.from({ length: offers });
    this.#payoutTexts = Array.from({ length: offers });
    this.#eventPayoutTexts = Array.from({ length: offers });
  }

  /** In ten-thousandths of a USD. */
  payout({ index, grossPayout }: ServedOffer): bigint {
    return (this.#payouts[index] ??= publishedAmount(grossPayout, this.#commission));
  }

  payoutText(offer: ServedOffer): string {
    return (this.#payoutTexts[offer.index] ??= amountText(this.payout(offer)));
  }

  /** In the order of the offer's milestones. */
  eventPayoutTexts({ index, grossEventPayouts }: ServedOffer): readonly string[] {
    return (this.#eventPayoutTexts[index] ??= grossEventPayouts.map((gross) => amountText(publishedAmount(gross, this.#commission))));
  }

  epcText({ grossEpc }: ServedOffer): string {
    return amountText(publishedAmount(grossEpc, this.#commission));
  }
}
