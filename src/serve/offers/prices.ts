import { commissionOf } from '../../kit/sites/offer-commissions.ts';
import type { SiteTerms } from '../../kit/sites/site-terms.ts';
import { decimalOf } from '../../kit/text/decimal-text.ts';
import type { Decimal } from '../../kit/text/decimal-text.ts';
import { publishedAmountText, publishedAmount } from './money.ts';
import type { ServedOffer } from './served-offer.ts';

/** Bytes counted for an offer: its payout as a number, and the texts of payout and EPC. */
const bytesOfOffer = 80;
const bytesOfMilestone = 40;
const bytesOfList = 48;

type PricedOffer = Pick<ServedOffer, 'id' | 'source' | 'grossPayout' | 'grossEpc' | 'grossEventPayouts'>;

/** A snapshot's published money at one site's commissions, by the offers' indexes, in USD after commission. */
export class Prices {
  /** In ten-thousandths of a USD, to compare with: a catalog's payouts are far below the largest exact number. */
  readonly payouts: Float64Array;
  /** All that it may come to hold, what is computed later too. */
  readonly bytes: number;
  readonly #commissionOf: (offer: PricedOffer) => string;
  readonly #commissions = new Map<string, Decimal>();
  readonly #offers: readonly PricedOffer[];
  readonly #payoutTexts: (string | undefined)[];
  readonly #epcTexts: (string | undefined)[];
  readonly #eventPayoutTexts: (readonly string[] | undefined)[];

  /** `offers`: the snapshot's active ones. */
  constructor(terms: Pick<SiteTerms, 'commission' | 'commissions'>, offers: readonly PricedOffer[]) {
    this.#commissionOf = commissionOf(terms.commission, terms.commissions);
    this.#offers = offers;
    this.payouts = Float64Array.from(offers, (offer) =>
      Number(publishedAmount(offer.grossPayout, this.#commission(offer))),
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
    return (this.#payoutTexts[index] ??= this.#textOf(index, this.#offer(index).grossPayout));
  }

  /** Amount as a JSON number, of any size: one click may have any number of conversions. */
  epcText(index: number): string {
    return (this.#epcTexts[index] ??= this.#textOf(index, this.#offer(index).grossEpc));
  }

  /** Prices as JSON numbers, in the order of the offer's milestones. */
  eventPayoutTexts(index: number): readonly string[] {
    return (this.#eventPayoutTexts[index] ??= this.#offer(index).grossEventPayouts.map((gross) =>
      this.#textOf(index, gross),
    ));
  }

  #offer(index: number): PricedOffer {
    return this.#offers[index] as PricedOffer;
  }

  #textOf(index: number, gross: Decimal): string {
    return publishedAmountText(publishedAmount(gross, this.#commission(this.#offer(index))));
  }

  #commission(offer: PricedOffer): Decimal {
    const text = this.#commissionOf(offer);
    let commission = this.#commissions.get(text);
    if (commission === undefined) this.#commissions.set(text, (commission = decimalOf(text)));
    return commission;
  }
}
