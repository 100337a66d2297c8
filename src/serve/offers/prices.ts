import { decimalOf, publishedExactly, publishedNumber } from './money.ts';
import type { Decimal } from './money.ts';
import type { ServedOffer } from './served-offer.ts';

/** Its payout, its earnings per click, and where its milestones stand. */
const bytesOfOffer = 32;
const bytesOfList = 48;

type PricedOffer = Pick<ServedOffer, 'grossPayout' | 'grossEpc' | 'grossEventPayouts'>;

/** A snapshot's published money at one commission, by position of the offer, in ten-thousandths of a USD. */
export class Prices {
  readonly payouts: Float64Array;
  /** All that it may come to hold, what is computed later too. */
  readonly bytes: number;
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
    this.bytes = offers.reduce(
      (bytes, { grossEventPayouts: { length } }) =>
        bytes + bytesOfOffer + (length === 0 ? 0 : bytesOfList + length * 8),
      bytesOfList,
    );
  }

  /** Earnings per click, of any size: one click may have any number of conversions. Computed when they are first asked for: only reports have them. */
  get epcs(): readonly (number | bigint)[] {
    return (this.#epcs ??= this.#offers.map(({ grossEpc }) => publishedExactly(grossEpc, this.#commission)));
  }

  /** In the order of the offer's milestones. */
  eventPayouts(position: number): readonly (number | bigint)[] {
    return (this.#eventPayouts[position] ??= (this.#offers[position]?.grossEventPayouts ?? []).map((gross) =>
      publishedExactly(gross, this.#commission),
    ));
  }
}
