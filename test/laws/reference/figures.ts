import { CatalogHistory } from './catalog-history.ts';
import type { Click, ConversionEvent, Landing, Micros, Millionths } from './facts.ts';

export interface Conversion {
  conversionId: string;
  clickId: string;
  status: 'pending' | 'credited' | 'rejected' | 'charged_back' | 'unattributed';
  offerId: number | null;
  payout: Millionths | null;
  creditedAt: Micros | null;
}

export interface OfferFigures {
  offerId: number;
  clicks: bigint;
  conversions: bigint;
  convertedClicks: bigint;
  earnings: Millionths;
  epc: Millionths;
  cvr: Millionths;
  conversions24h: bigint;
  conversionsPrior24h: bigint;
  trend: 'up' | 'down' | 'stable';
  rank: bigint | null;
}

/** Figures of one offer or site on one UTC day. */
export interface DayFigures<Of> {
  of: Of;
  /** Midnight of the day. */
  day: Micros;
  clicks: bigint;
  conversions: bigint;
  convertedClicks: bigint;
  earnings: Millionths;
}

export interface HourFigures {
  offerId: number;
  hour: Micros;
  clicks: bigint;
  conversions: bigint;
  earnings: Millionths;
}

interface Credited {
  clickId: string;
  offerId: number;
  payout: Millionths;
  creditedAt: Micros;
}

const hourMicros = 3_600_000_000n;
const dayMicros = 24n * hourMicros;

/**
 * The figures by their definition, written as plainly as possible: no roll-up, no window, no SQL. Everything that
 * landed is gone through again for each figure.
 */
export class Reference {
  readonly #asOf: Micros;
  readonly #catalog: CatalogHistory;
  readonly #clicks: readonly Click[];
  readonly #events: readonly ConversionEvent[];

  /** The figures after these runs, as of the last of them or of an earlier moment. */
  constructor(landings: readonly Landing[], asOf: Micros | undefined = landings.at(-1)?.asOf) {
    if (asOf === undefined) throw new Error('there are no figures before the first run');
    this.#asOf = asOf;
    this.#catalog = new CatalogHistory(landings);
    this.#clicks = landings.flatMap(({ clicks }) => clicks);
    this.#events = landings.flatMap(({ events }) => events);
  }

  /** One for each conversion with an event up to as-of, by id. */
  conversions(): Conversion[] {
    const happened = this.#events.filter(({ occurredAt }) => occurredAt <= this.#asOf);
    const ids = [...new Set(happened.map(({ conversionId }) => conversionId))].toSorted();
    return ids.map((id) => this.#conversion(happened.filter(({ conversionId }) => conversionId === id)));
  }

  offers(): OfferFigures[] {
    const start = (this.#asOf / dayMicros) * dayMicros - dayMicros;
    const inWindow = (moment: Micros) => moment >= start && moment <= this.#asOf;
    const credited = this.#credited();
    const figures: OfferFigures[] = [];
    const heat = new Map<number, { count: bigint; earnings: Millionths }>();
    for (const offerId of this.#offerIds()) {
      const clicks = BigInt(this.#clicksOf(offerId).filter(({ clickedAt }) => inWindow(clickedAt)).length);
      const own = credited.filter((conversion) => conversion.offerId === offerId);
      const counted = own.filter(({ creditedAt }) => inWindow(creditedAt));
      const recent = own.filter(({ creditedAt }) => creditedAt > this.#asOf - dayMicros && creditedAt <= this.#asOf);
      const prior = own.filter(
        ({ creditedAt }) => creditedAt > this.#asOf - 2n * dayMicros && creditedAt <= this.#asOf - dayMicros,
      );
      if (clicks === 0n && counted.length === 0 && recent.length + prior.length === 0) continue;
      const convertedClicks = BigInt(new Set(counted.map(({ clickId }) => clickId)).size);
      const earnings = sum(counted);
      heat.set(offerId, { count: BigInt(recent.length + prior.length), earnings: sum([...recent, ...prior]) });
      figures.push({
        offerId,
        clicks,
        conversions: BigInt(counted.length),
        convertedClicks,
        earnings,
        epc: quotient(earnings, clicks),
        cvr: quotient(convertedClicks * 1_000_000n, clicks),
        conversions24h: BigInt(recent.length),
        conversionsPrior24h: BigInt(prior.length),
        trend: trendOf(recent.length, prior.length),
        rank: null,
      });
    }
    const hottest = figures
      .filter(
        ({ offerId }) =>
          (heat.get(offerId)?.count ?? 0n) > 0n && this.#catalog.at(offerId, this.#asOf).content?.status === 'active',
      )
      .toSorted((a, b) => {
        const [left, right] = [heat.get(a.offerId), heat.get(b.offerId)];
        return (
          descending(left?.count ?? 0n, right?.count ?? 0n) ||
          descending(left?.earnings ?? 0n, right?.earnings ?? 0n) ||
          a.offerId - b.offerId
        );
      });
    for (const [index, offer] of hottest.entries()) offer.rank = BigInt(index + 1);
    return figures;
  }

  hours(): HourFigures[] {
    const hourOf = (moment: Micros) => (moment / hourMicros) * hourMicros;
    const credited = this.#credited();
    const all: HourFigures[] = [];
    for (const offerId of this.#offerIds()) {
      const clicks = this.#clicksOf(offerId).filter(({ clickedAt }) => clickedAt <= this.#asOf);
      const own = credited.filter((conversion) => conversion.offerId === offerId);
      for (const hour of new Set([
        ...clicks.map(({ clickedAt }) => hourOf(clickedAt)),
        ...own.map(({ creditedAt }) => hourOf(creditedAt)),
      ])) {
        const inHour = own.filter(({ creditedAt }) => hourOf(creditedAt) === hour);
        all.push({
          offerId,
          hour,
          clicks: BigInt(clicks.filter(({ clickedAt }) => hourOf(clickedAt) === hour).length),
          conversions: BigInt(inHour.length),
          earnings: sum(inHour),
        });
      }
    }
    return all.toSorted((a, b) => Number(a.hour - b.hour) || a.offerId - b.offerId);
  }

  offerDays(): DayFigures<number>[] {
    return this.#days(
      ({ offer }) => this.#catalog.idOf(offer) ?? null,
      ({ offerId }) => offerId,
    ).toSorted((a, b) => Number(a.day - b.day) || a.of - b.of);
  }

  siteDays(): DayFigures<string>[] {
    const siteOf = new Map(this.#clicks.map(({ clickId, siteKey }) => [clickId, siteKey]));
    return this.#days(
      ({ offer, siteKey }) => (this.#catalog.idOf(offer) === undefined ? null : siteKey),
      ({ clickId }) => siteOf.get(clickId) ?? null,
    ).toSorted((a, b) => Number(a.day - b.day) || (a.of < b.of ? -1 : 1));
  }

  /** Clicks and conversions that belong to nobody are left out. */
  #days<Of>(ofClick: (click: Click) => Of | null, ofConversion: (conversion: Credited) => Of | null): DayFigures<Of>[] {
    const dayOf = (moment: Micros) => (moment / dayMicros) * dayMicros;
    const clicks = this.#clicks
      .filter(({ clickedAt }) => clickedAt <= this.#asOf)
      .map((click) => ({ of: ofClick(click), day: dayOf(click.clickedAt) }));
    const credited = this.#credited().map((conversion) => ({
      ...conversion,
      of: ofConversion(conversion),
      day: dayOf(conversion.creditedAt),
    }));
    const all: DayFigures<Of>[] = [];
    for (const day of new Set([...clicks, ...credited].map((each) => each.day))) {
      for (const of of new Set([...clicks, ...credited].map((each) => each.of))) {
        if (of === null) continue;
        const own = credited.filter((conversion) => conversion.day === day && conversion.of === of);
        const clicked = clicks.filter((click) => click.day === day && click.of === of).length;
        if (clicked + own.length === 0) continue;
        all.push({
          of,
          day,
          clicks: BigInt(clicked),
          conversions: BigInt(own.length),
          convertedClicks: BigInt(new Set(own.map(({ clickId }) => clickId)).size),
          earnings: sum(own),
        });
      }
    }
    return all;
  }

  #conversion(events: readonly ConversionEvent[]): Conversion {
    const of = (kind: ConversionEvent['kind']) => events.find((event) => event.kind === kind);
    const credit = of('credit');
    const deciding = credit ?? of('reject') ?? of('chargeback') ?? of('pending');
    if (deciding === undefined) throw new Error('a conversion has at least one event');
    const click = this.#clicks.find(({ clickId }) => clickId === deciding.clickId);
    const offerId = click === undefined ? null : (this.#catalog.idOf(click.offer) ?? null);
    const payout = deciding.payout ?? (offerId === null ? null : this.#payoutByCatalog(offerId, deciding));
    const reversed = of('chargeback') ? 'charged_back' : of('reject') ? 'rejected' : credit ? 'credited' : 'pending';
    return {
      conversionId: deciding.conversionId,
      clickId: deciding.clickId,
      offerId,
      payout,
      creditedAt: credit?.occurredAt ?? null,
      status: offerId === null || payout === null ? 'unattributed' : reversed,
    };
  }

  #payoutByCatalog(offerId: number, { eventId, occurredAt }: ConversionEvent): Millionths | null {
    const { terms } = this.#catalog.at(offerId, occurredAt);
    return eventId === null ? terms.payout : (terms.milestones.get(eventId) ?? null);
  }

  #credited(): Credited[] {
    return this.conversions().flatMap(({ status, clickId, offerId, payout, creditedAt }) =>
      status === 'credited' && offerId !== null && payout !== null && creditedAt !== null
        ? [{ clickId, offerId, payout, creditedAt }]
        : [],
    );
  }

  #clicksOf(offerId: number): Click[] {
    return this.#clicks.filter(({ offer }) => this.#catalog.idOf(offer) === offerId);
  }

  #offerIds(): number[] {
    return [...new Set(this.#clicks.flatMap(({ offer }) => this.#catalog.idOf(offer) ?? []))].toSorted((a, b) => a - b);
  }
}

function sum(conversions: readonly { payout: Millionths }[]): Millionths {
  return conversions.reduce((total, { payout }) => total + payout, 0n);
}

/** Millionths by a count, half away from zero; nothing here is negative. */
export function quotient(dividend: Millionths, count: bigint): Millionths {
  if (count === 0n) return 0n;
  const whole = dividend / count;
  return 2n * (dividend - whole * count) >= count ? whole + 1n : whole;
}

function trendOf(recent: number, prior: number): OfferFigures['trend'] {
  if (10 * recent > 11 * prior) return 'up';
  return 10 * recent < 9 * prior ? 'down' : 'stable';
}

function descending(a: bigint, b: bigint): number {
  return a > b ? -1 : a < b ? 1 : 0;
}
