import { decimalOf } from '../../kit/text/decimal-text.ts';
import type { Decimal } from '../../kit/text/decimal-text.ts';
import { publishedAmountText, publishedAmount } from './money.ts';
import type { ServedOffer } from './served-offer.ts';

/**
 * A payout as a number, and the texts of payout and earnings per click, which are made when they are first asked for.
 */
const bytesOfOffer = 80;
const bytesOfMilestone = 40;
const bytesOfList = 48;

type PricedOffer = Pick<ServedOffer, 'grossPayout' | 'grossEpc' | 'grossEventPayouts'>;

/** A snapshot's published money at one commission, by the offers' indexes, in USD after commission. */
export class Prices {
  /** In ten-thousandths of a USD, to compare with: a catalog's payouts are far below the largest exact number. */
  readonly payouts: Float64Array;
  /** All that it may come to hold, what is computed later too. */
  readonly bytes: number;
  readonly #commission: Decimal;
  readonly #offers: readonly PricedOffer[];
  readonly #payoutTexts: (string | undefined)[];
  readonly #epcTexts: (string | undefined)[];
  readonly #eventPayoutTexts: (readonly string[] | undefined)[];

  /** Commission as decimal text; the snapshot's active offers. */
  constructor(commission: string, offers: readonly PricedOffer[]) {
    this.#commission = decimalOf(commission);
    this.#offers = offers;
    this.payouts = Float64Array.from(offers, ({ grossPayout }) =>
      Number(publishedAmount(grossPayout, this.#commission)),
    );
    this.#payoutTexts = Array.from({ length: offers.length });
    this.#epcTexts = Array.from({ length: offers.length });
    this.#eventPayoutTexts = Array.from({ length: offers.length });
    this.bytes = offers.reduce(
      (bytes, { grossEventPayouts: { length } }) =>
        bytes + bytesOfOffer + (length === 0 ? 0 : bytesOfList + length * bytesOfMilestone),
      bytesOfList,
    );
  }

  /** Price as a JSON number. */
  payoutText(index: number): string {
    return (this.#payoutTexts[index] ??= this.#textOf(this.#offer(index).grossPayout));
  }

  /** Amount as a JSON number, of any size: one click may have any number of conversions. */
  epcText(index: number): string {
    return (this.#epcTexts[index] ??= this.#textOf(this.#offer(index).grossEpc));
  }

  /** Prices as JSON numbers, in the order of the offer's milestones. */
  eventPayoutTexts(index: number): readonly string[] {
    return (this.#eventPayoutTexts[index] ??= this.#offer(index).grossEventPayouts.map((gross) => this.#textOf(gross)));
  }

  #offer(index: number): PricedOffer {
    return this.#offers[index] as PricedOffer;
  }

  #textOf(gross: Decimal): string {
    return publishedAmountText(publishedAmount(gross, this.#commission));
  }
}
