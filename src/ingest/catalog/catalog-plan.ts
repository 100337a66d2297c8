import type { CanonicalOffer } from '../../landing/catalog/canonical-offer.ts';
import { compareMoments, shiftMoment, type Moment } from '../../time/moment.ts';
import type { VersionStatus } from '../../vocabulary/values.ts';
import { digestsOf, vanishedDigests, type ContentDigests } from './catalog-content.ts';
import type { AcceptedRecord, CatalogExport } from './catalog-export.ts';
import { assignIds, type OfferName } from './catalog-ids.ts';

/** An offer as the catalog has it now. */
export interface KnownOffer extends OfferName, ContentDigests {
  offerId: number;
  /** As-of of the run that first saw it. */
  firstSeenAt: Moment;
  version: number;
  status: VersionStatus;
  validFrom: Moment;
  createdAt: Moment;
  updatedAt: Moment;
  destinationUrl: string | null;
}

/** What one source brings to a run. */
export interface SourceExports {
  source: string;
  mode: 'full' | 'delta';
  /** Of a full source the one that decides, of a delta source all in order. */
  exports: CatalogExport[];
  /** An operator accepted what the export removes. */
  released: boolean;
}

export type Change = 'added' | 'changed' | 'vanished' | 'returned';

export interface NewVersion extends OfferName, ContentDigests {
  offerId: number;
  change: Change;
  version: number;
  validFrom: Moment;
  status: VersionStatus;
  updatedAt: Moment;
  /** Null for a vanished offer, which keeps what its last version has. */
  content: { offer: CanonicalOffer; createdAt: Moment } | null;
}

export interface HeldExport {
  catalog: CatalogExport;
  removes: number;
  active: number;
}

export interface CatalogPlan {
  versions: NewVersion[];
  /**
   * Versions that were taken over from a snapshot, which has no destinations: their digest says that they had these.
   */
  destinations: { offerId: number; version: number; destinationUrl: string }[];
  held: HeldExport[];
  /** Rows that turned out to bring another offer's id. */
  idTaken: { catalog: CatalogExport; accepted: AcceptedRecord }[];
  /** Rows whose offer keeps the id that it has. */
  idKept: { catalog: CatalogExport }[];
}

/** Smaller catalogs turn over by half in the ordinary course of business. */
const minGuardedOffers = 10;

/**
 * Works out what a run's exports change in the catalog (contract section 2). Changes nothing itself.
 * `known` are the present offers of the sources that bring something, `owners` all offers that ever were.
 */
export function planCatalog(
  asOf: Moment,
  known: readonly KnownOffer[],
  owners: Iterable<OfferName & { offerId: number }>,
  sources: readonly SourceExports[],
): CatalogPlan {
  const plan: CatalogPlan = { versions: [], destinations: [], held: [], idTaken: [], idKept: [] };
  const applied: { source: SourceExports; offers: Map<string, KnownOffer>; removed: KnownOffer[] }[] = [];
  const knownBySource = Map.groupBy(known, (offer) => offer.source);
  for (const source of sources) {
    const offers = new Map((knownBySource.get(source.source) ?? []).map((offer) => [offer.externalId, offer]));
    const removed = removals(source, [...offers.values()]);
    const held = source.released ? undefined : tooManyRemovals(source, [...offers.values()], removed);
    if (held) plan.held.push(held);
    else applied.push({ source, offers, removed });
  }

  const rows = applied.flatMap(({ source, offers }) =>
    source.exports.flatMap((catalog) =>
      catalog.accepted.map((accepted) => ({ source: source.source, offers, catalog, accepted })),
    ),
  );
  const outcomes = assignIds(
    owners,
    rows.map(({ source, accepted: { offer } }) => ({ source, externalId: offer.external_id, id: offer.id })),
  );

  // Of several delta files about one offer the last one tells its state; one run makes one version of it.
  const latest = new Map<number, (typeof rows)[number]>();
  for (const [index, row] of rows.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined || outcome === 'id_taken') {
      plan.idTaken.push({ catalog: row.catalog, accepted: row.accepted });
      continue;
    }
    if (outcome.kept) plan.idKept.push({ catalog: row.catalog });
    latest.set(outcome.offerId, row);
  }
  for (const [
    offerId,
    {
      source,
      offers,
      accepted: { offer },
    },
  ] of latest) {
    const version = nextVersion(asOf, offerId, source, offer, offers.get(offer.external_id));
    if (version) plan.versions.push(version);
    else plan.destinations.push(...lackingDestination(offer, offers.get(offer.external_id)));
  }
  for (const { removed } of applied) plan.versions.push(...removed.map((offer) => vanish(asOf, offer)));
  return plan;
}

/** Offers that a full export lacks. An export that may be incomplete proves nothing. */
function removals({ mode, exports: [catalog] }: SourceExports, offers: readonly KnownOffer[]): KnownOffer[] {
  if (mode === 'delta' || catalog === undefined || catalog.incomplete !== null) return [];
  const present = new Set([...catalog.accepted.map(({ offer }) => offer.external_id), ...catalog.rejectedIds]);
  return offers.filter(({ status, externalId }) => status !== 'vanished' && !present.has(externalId));
}

/** More than half of the active offers at once is rather a broken export than a decision. */
function tooManyRemovals(
  { exports: [catalog] }: SourceExports,
  offers: readonly KnownOffer[],
  removed: readonly KnownOffer[],
): HeldExport | undefined {
  const isActive = ({ status }: KnownOffer) => status === 'active';
  const active = offers.filter(isActive).length;
  const removes = removed.filter(isActive).length;
  return catalog !== undefined && active >= minGuardedOffers && 2 * removes > active
    ? { catalog, removes, active }
    : undefined;
}

function nextVersion(
  asOf: Moment,
  offerId: number,
  source: string,
  offer: CanonicalOffer,
  last: KnownOffer | undefined,
): NewVersion | undefined {
  const createdAt = createdAtOf(offer, last) ?? asOf;
  const digests = digestsOf(offer, createdAt);
  if (last?.contentSha256 === digests.contentSha256) return undefined;
  return {
    offerId,
    source,
    externalId: offer.external_id,
    change: last === undefined ? 'added' : last.status === 'vanished' ? 'returned' : 'changed',
    version: (last?.version ?? 0) + 1,
    validFrom: validFrom(asOf, last),
    status: offer.status,
    updatedAt: last?.publishedSha256 === digests.publishedSha256 ? last.updatedAt : asOf,
    content: { offer, createdAt },
    ...digests,
  };
}

/** As the source says, else when we first saw it; one that returns keeps what it had. */
function createdAtOf(offer: CanonicalOffer, last: KnownOffer | undefined): Moment | undefined {
  return last?.status === 'vanished' ? last.createdAt : (offer.created_at ?? last?.firstSeenAt);
}

function lackingDestination(offer: CanonicalOffer, last: KnownOffer | undefined): CatalogPlan['destinations'] {
  if (last === undefined || last.destinationUrl !== null || offer.destination_url === null) return [];
  return [{ offerId: last.offerId, version: last.version, destinationUrl: offer.destination_url }];
}

function vanish(asOf: Moment, last: KnownOffer): NewVersion {
  return {
    offerId: last.offerId,
    source: last.source,
    externalId: last.externalId,
    change: 'vanished',
    version: last.version + 1,
    validFrom: validFrom(asOf, last),
    status: 'vanished',
    updatedAt: asOf,
    content: null,
    ...vanishedDigests(last),
  };
}

/** Versions follow one another even when a run is given an earlier as-of, or the same one. */
function validFrom(asOf: Moment, last: KnownOffer | undefined): Moment {
  if (last === undefined) return asOf;
  const following = shiftMoment(last.validFrom, 1n);
  return compareMoments(following, asOf) > 0 ? following : asOf;
}
