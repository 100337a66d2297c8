import type { FeedOffer } from '../../pipeline/feed/feed-document.ts';
import type { OfferRules, OfferSelector } from '../../kit/sites/offer-rules.ts';
import { Bitset } from './bitset.ts';
import type { OfferType } from '../http/parameters.ts';

/** A list of more indexes than one for so many offers takes more room than a set. */
const bitsOfIndex = 32;

/**
 * Offers of a snapshot that each filter of Variant C lets pass, and that each format of Variant A has. Countries
 * and devices are few, so each has a set of its own. Categories are what advertisers make up: each has a list, so that
 * all take no more room than the offers do; only those of many offers have a set too, made when it is first asked for.
 */
export class OfferIndex {
  readonly #offers: number;
  readonly #types: Record<OfferType, Bitset>;
  readonly #countries = new Map<string, Bitset>();
  readonly #worldwide: Bitset;
  readonly #devices = new Map<string, Bitset>();
  readonly #allDevices: Bitset;
  readonly #categories = new Map<string, number[]>();
  readonly #largeCategories = new Map<string, Bitset>();
  readonly #formats = new Map<string, number[]>();
  readonly #sources = new Map<string, number[]>();
  readonly #ids = new Map<number, number>();

  /** With room for so many offers. */
  constructor(offers: number) {
    this.#offers = offers;
    this.#types = { offer: new Bitset(offers), multireward: new Bitset(offers) };
    this.#worldwide = new Bitset(offers);
    this.#allDevices = new Bitset(offers);
  }

  add(index: number, { id, source, events, countries, devices, categories, formats }: FeedOffer): void {
    this.#ids.set(id, index);
    addTo(this.#sources, source, index);
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

  /** The set of the offers of a type, or of all types, for the caller to narrow further. */
  ofType(type: OfferType | undefined): Bitset {
    const all = this.#types[type ?? 'offer'].copy();
    if (type === undefined) all.unite(this.#types.multireward);
    return all;
  }

  /** The set of the offers that only one of two rules lets a site have. */
  moved(before: OfferRules, after: OfferRules): Bitset {
    const [was, is] = [before, after].map((rules) => this.offered(rules) ?? this.ofType(undefined)) as [Bitset, Bitset];
    const moved = was.copy();
    moved.subtract(is);
    is.subtract(was);
    moved.unite(is);
    return moved;
  }

  /** A set for the caller to narrow further. */
  matching(
    type: OfferType,
    {
      country,
      device,
      category,
    }: { country: string | undefined; device: string | undefined; category: string | undefined },
  ): Bitset {
    const matching = this.#types[type].copy();
    if (country !== undefined) matching.intersect(this.#worldwide, this.#countries.get(country));
    if (device !== undefined) matching.intersect(this.#allDevices, this.#devices.get(device));
    if (category !== undefined) matching.intersect(this.#inCategory(category));
    return matching;
  }

  /** Indexes of the offers of a placement format, ascending. */
  ofFormat(format: string): readonly number[] {
    return this.#formats.get(format) ?? [];
  }

  /** The set of the offers that rules let a site have; undefined where they are all of them. */
  offered({ allow, deny }: OfferRules): Bitset | undefined {
    if (allow === undefined && deny === undefined) return undefined;
    const offered = this.selected(allow ?? []);
    if (allow === undefined) offered.unite(this.ofType(undefined));
    if (deny !== undefined) offered.subtract(this.selected(deny));
    return offered;
  }

  /** The set of the offers that one of the selectors names. */
  selected(selectors: readonly OfferSelector[]): Bitset {
    const selected = new Bitset(this.#offers);
    for (const selector of selectors) for (const index of this.#named(selector)) selected.add(index);
    return selected;
  }

  #named({ offer, source, category, format }: OfferSelector): readonly number[] {
    if (source !== undefined) return this.#sources.get(source) ?? [];
    if (format !== undefined) return this.ofFormat(format);
    if (category !== undefined) return this.#categories.get(category.toLowerCase()) ?? [];
    const index = offer === undefined ? undefined : this.#ids.get(offer);
    return index === undefined ? [] : [index];
  }

  #inCategory(category: string): Bitset {
    const known = this.#largeCategories.get(category);
    if (known !== undefined) return known;
    const indexes = this.#categories.get(category) ?? [];
    const set = new Bitset(this.#offers);
    for (const index of indexes) set.add(index);
    if (indexes.length * bitsOfIndex >= this.#offers) this.#largeCategories.set(category, set);
    return set;
  }

  #setOf(sets: Map<string, Bitset>, name: string): Bitset {
    let set = sets.get(name);
    if (set === undefined) sets.set(name, (set = new Bitset(this.#offers)));
    return set;
  }
}

function addTo(lists: Map<string, number[]>, name: string, index: number): void {
  const indexes = lists.get(name);
  if (indexes === undefined) lists.set(name, [index]);
  else indexes.push(index);
}
