import { decimalOf, publishedExactly, publishedNumber } from './money.ts';
import type { Decimal } from './money.ts';
import type { ServedOffer } from './served-offer.ts';

type PricedOffer = Pick<ServedOffer, 'grossPayout' | 'grossEpc' | 'grossEventPayouts'>;

/** A snapshot's published money at one commission, by position of the offer, in ten-thousandths of a USD. */
export class Prices {
  readonly payouts: Float64Array;
  readonly #commission: Decimal;
  readonly #offers: readonly PricedOffer[];
  #epcs: readonly (number | bigint)[] | undefined;
  readonly #eventPayouts: (readonly (number | bigint)[] | undefined)[];

  /** Commission as decimal text; the snapshot's active offers. */
  constructor(commission: string, offers: readonly PricedOffer[]) {
    this.#commission = decimalOf(commission);
    this.#offers = offers;
    this.payouts = Float64Array.from(offers, ({ grossPayout }) => publishedNumber(grossPayout, this.#commission));
    this.#eventPayouts = Array.from({ length: offers.length });
  }

  /** Earnings per click, of any size: one click may have any number of conversions. Computed when they are first asked for: only reports have them. */
  get epcs(): readonly (number | bigint)[] {
    return (this.#epcs ??= this.#offers.map(({ grossEpc }) => publishedExactly(grossEpc, this.#commission)));
  }

  /** In the order of the offer's milestones. */
  eventPayouts(position: number): readonly (number | bigint)[] {
    return (this.#eventPayouts[position] ??= (this.#offers[position]?.grossEventPayouts ?? []).map((gross) => publishedExactly(gross, this.#commission)));
  }
}
