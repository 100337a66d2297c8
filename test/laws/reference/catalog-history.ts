import type { ExportedOffer, Landing, Micros } from './facts.ts';

/** An offer from a moment on; null while it was missing from its source's export. */
interface Version {
  validFrom: Micros;
  content: ExportedOffer | null;
  /** Payout, also while it was missing: a vanished offer keeps its last content. */
  terms: ExportedOffer;
}

/**
 * The catalog's versions after the exports of a sequence of runs of one full source, by their definition.
 */
export class CatalogHistory {
  readonly #versions = new Map<number, Version[]>();

  constructor(landings: readonly Landing[]) {
    for (const { asOf, catalog } of landings) if (catalog !== null) this.#take(asOf, catalog);
  }

  /** The public id of the offer that a click names; undefined while no catalog has had it. */
  idOf(named: { id: number } | { source: string; externalId: string }): number | undefined {
    if ('id' in named) return this.#versions.has(named.id) ? named.id : undefined;
    for (const [id, [first]] of this.#versions) {
      if (first?.terms.source === named.source && first.terms.externalId === named.externalId) return id;
    }
    return undefined;
  }

  /** The version valid at a moment; the first one also reaches back for ever. */
  at(offerId: number, moment: Micros): Version {
    const versions = this.#versions.get(offerId) ?? [];
    const valid = versions.findLast(({ validFrom }) => validFrom <= moment) ?? versions[0];
    if (valid === undefined) throw new Error(`offer ${offerId} was never in the catalog`);
    return valid;
  }

  #take(asOf: Micros, catalog: readonly ExportedOffer[]): void {
    for (const offer of catalog) {
      const last = this.#versions.get(offer.offerId)?.at(-1);
      if (last === undefined || last.content === null || !sameContent(last.content, offer))
        this.#add(asOf, offer.offerId, offer, offer);
    }
    for (const [offerId, versions] of this.#versions) {
      const last = versions.at(-1);
      const isThere = catalog.some((offer) => offer.offerId === offerId);
      if (!isThere && last !== undefined && last.content !== null) this.#add(asOf, offerId, null, last.content);
    }
  }

  #add(asOf: Micros, offerId: number, content: ExportedOffer | null, terms: ExportedOffer): void {
    const versions = this.#versions.get(offerId) ?? [];
    const following = (versions.at(-1)?.validFrom ?? asOf - 1n) + 1n;
    versions.push({ validFrom: following > asOf ? following : asOf, content, terms });
    this.#versions.set(offerId, versions);
  }
}

function sameContent(a: ExportedOffer, b: ExportedOffer): boolean {
  const milestones = (offer: ExportedOffer) =>
    [...offer.milestones].map(([eventId, payout]) => `${eventId}=${payout}`).join();
  return a.status === b.status && a.payout === b.payout && milestones(a) === milestones(b);
}
