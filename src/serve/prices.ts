import { decimalOf, publishedNumber } from './money.ts';
import type { Decimal } from './money.ts';
import type { ServedOffer } from './served-offer.ts';

type PricedOffer = Pick<ServedOffer, 'grossPayout' | 'grossEpc' | 'grossEventPayouts'>;

/** A snapshot's published money at one commission, by position of the offer, in ten-thousandths of a USD. */
export class Prices {
  readonly payouts: Float64Array;
  readonly #commission: Decimal;
  readonly #offers: readonly PricedOffer[];
  #epcs: Float64Array | undefined;
  readonly #eventPayouts: (readonly number[] | undefined)[];

  /** Commission as decimal text; the snapshot's active offers. */
  constructor(commission: string, offers: readonly PricedOffer[]) {
    this.#commission = decimalOf(commission);
    this.#offers = offers;
    this.payouts = Float64Array.from(offers, ({ grossPayout }) => publishedNumber(grossPayout, this.#commission));
    this.#eventPayouts = Array.from({ length: offers.length });
  }

  /** Earnings per click. Computed when they are first asked for: only reports have them. */
  get epcs(): Float64Array {
    return (this.#epcs ??= Float64Array.from(this.#offers, ({ grossEpc }) => publishedNumber(grossEpc, this.#commission)));
  }

  /** In the order of the offer's milestones. */
  eventPayouts(position: number): readonly number[] {
    return (this.#eventPayouts[position] ??= (this.#offers[position]?.grossEventPayouts ?? []).map((gross) => publishedNumber(gross, this.#commission)));
  }
}
