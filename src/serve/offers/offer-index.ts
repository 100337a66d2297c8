import type { FeedOffer } from '../../feed/feed-document.ts';
import { OfferSet } from './bitset.ts';
import type { OfferType } from '../http/parameters.ts';

/** A list of more positions than one for so many offers takes more room than a set. */
const bitsOfPosition = 32;

/**
 * Which of a snapshot's offers each filter of Variant C lets pass, and which each format of Variant A has. Countries and
 * devices are few, so each has a set of its own. Categories are what advertisers make up: each has a list, so that all
 * take no more room than the offers do; only those of many offers have a set too, made when it is first asked for.
 */
export class OfferIndex {
  readonly #offers: number;
  readonly #matching: OfferSet;
  readonly #types: Record<OfferType, OfferSet>;
  readonly #countries = new Map<string, OfferSet>();
  readonly #worldwide: OfferSet;
  readonly #devices = new Map<string, OfferSet>();
  readonly #allDevices: OfferSet;
  readonly #categories = new Map<string, number[]>();
  readonly #largeCategories = new Map<string, OfferSet>();
  readonly #formats = new Map<string, number[]>();

  /** With room for so many offers. */
  constructor(offers: number) {
    this.#offers = offers;
    this.#matching = new OfferSet(offers);
    this.#types = { offer: new OfferSet(offers), multireward: new OfferSet(offers) };
    this.#worldwide = new OfferSet(offers);
    this.#allDevices = new OfferSet(offers);
  }

  add(index: number, { events, countries, devices, categories, formats }: FeedOffer): void {
    const multireward = events.length > 0;
    this.#types[multireward ? 'multireward' : 'offer'].add(index);
    if (countries.length === 0) this.#worldwide.add(index);
    for (const country of countries) this.#setOf(this.#countries, country).add(index);
    if (devices.length === 0) this.#allDevices.add(index);
    for (const device of devices) this.#setOf(this.#devices, device).add(index);
    for (const category of new Set(categories.map((name) => name.toLowerCase())))
      addTo(this.#categories, category, index);
    for (const format of new Set(formats)) addTo(this.#formats, format, index);
  }

  /** A set for the caller to narrow further, until somebody asks again: a new one each time would be the most expensive part. */
  matching(
    type: OfferType,
    {
      country,
      device,
      category,
    }: { country: string | undefined; device: string | undefined; category: string | undefined },
  ): OfferSet {
    const matching = this.#matching;
    matching.become(this.#types[type]);
    if (country !== undefined) matching.keep(this.#worldwide, this.#countries.get(country));
    if (device !== undefined) matching.keep(this.#allDevices, this.#devices.get(device));
    if (category !== undefined) matching.keep(this.#inCategory(category));
    return matching;
  }

  /** Positions of the offers of a placement format, ascending. */
  ofFormat(format: string): readonly number[] {
    return this.#formats.get(format) ?? [];
  }

  #inCategory(category: string): OfferSet {
    const known = this.#largeCategories.get(category);
    if (known !== undefined) return known;
    const positions = this.#categories.get(category) ?? [];
    const set = new OfferSet(this.#offers);
    for (const position of positions) set.add(position);
    if (positions.length * bitsOfPosition >= this.#offers) this.#largeCategories.set(category, set);
    return set;
  }

  #setOf(sets: Map<string, OfferSet>, name: string): OfferSet {
    let set = sets.get(name);
    if (set === undefined) sets.set(name, (set = new OfferSet(this.#offers)));
    return set;
  }
}

function addTo(lists: Map<string, number[]>, name: string, position: number): void {
  const positions = lists.get(name);
  if (positions === undefined) lists.set(name, [position]);
  else positions.push(position);
}
