import { amountText, decimalOf, publishedAmount, publishedNumber } from './money.ts';
import type { Decimal } from './money.ts';
import type { ServedOffer } from './served-offer.ts';

/** A snapshot's published money at one commission. Texts are made when they are first asked for and then kept. */
export class Prices {
  /** By position of the offer, in ten-thousandths of a USD. */
  readonly payouts: Float64Array;
  readonly #commission: Decimal;
  readonly #payoutTexts: (string | undefined)[];
  readonly #epcTexts: (string | undefined)[];
  readonly #eventPayoutTexts: (readonly string[] | undefined)[];

  /** Commission as decimal text; the snapshot's active offers. */
  constructor(commission: string, offers: readonly Pick<ServedOffer, 'grossPayout'>[]) {
    this.#commission = decimalOf(commission);
    this.payouts = Float64Array.from(offers, ({ grossPayout }) => publishedNumber(grossPayout, this.#commission));
    this.#payoutTexts = Array.from({ length: offers.length });
    this.#epcTexts = Array.from({ length: offers.length });
    this.#eventPayoutTexts = Array.from({ length: offers.length });
  }

  payoutText({ index }: ServedOffer): string {
    return (this.#payoutTexts[index] ??= amountText(BigInt(this.payouts[index] ?? 0)));
  }

  /** In the order of the offer's milestones. */
  eventPayoutTexts({ index, grossEventPayouts }: ServedOffer): readonly string[] {
    return (this.#eventPayoutTexts[index] ??= grossEventPayouts.map((gross) => amountText(publishedAmount(gross, this.#commission))));
  }

  epcText({ index, grossEpc }: ServedOffer): string {
    return (this.#epcTexts[index] ??= amountText(publishedAmount(grossEpc, this.#commission)));
  }
}
