import type { CanonicalOffer } from '../../landing/catalog/canonical-offer.ts';
import { compareMoments, shiftMoment, type Moment } from '../../../kit/time/moment.ts';
import type { VersionStatus } from '../../../kit/vocabulary/values.ts';
import { digestsAsWritten, digestsOf, vanishedDigests, type ContentDigests } from './catalog-content.ts';
import type { AcceptedRecord, CatalogExport } from './catalog-export.ts';
import { assignIds, type IdOutcome, type OfferName } from './catalog-ids.ts';
import type { SettledRecord } from './offer-records.ts';

/** An offer as the catalog has it now. */
export interface KnownOffer extends OfferName, ContentDigests {
  offerId: number;
  /** The as-of of the run that first saw the offer. */
  firstSeenAt: Moment;
  version: number;
  status: VersionStatus;
  validFrom: Moment;
  createdAt: Moment;
  updatedAt: Moment;
  destinationUrl: string | null;
}

/** Returns whether an offer is in the catalog now. */
export interface PresentOffer {
  externalId: string;
  status: VersionStatus;
}

/** Exports of one source in a run. */
export interface SourceExports {
  source: string;
  mode: 'full' | 'delta';
  /** Offers of the source before the run, gone ones too. */
  present: PresentOffer[];
  /** The deciding export of a full source, all in order of a delta source. */
  exports: CatalogExport[];
  /** An operator accepted what the export removes. */
  released: boolean;
}

export type OfferChange = 'added' | 'changed' | 'vanished' | 'returned';

export interface NewVersion extends OfferName, ContentDigests {
  offerId: number;
  change: OfferChange;
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
  /** Records that need not be read again. */
  settled: SettledRecord[];
  /**
   * Versions that were taken over from a snapshot, which has no destinations: their digest says that they had these.
   */
  destinations: { offerId: number; version: number; destinationUrl: string }[];
  /** Rows that turned out to bring another offer's id. */
  idTaken: { catalog: CatalogExport; accepted: AcceptedRecord }[];
  /** Rows whose offer keeps the id that it has. */
  idKept: { catalog: CatalogExport }[];
}

/** A source's exports that count, and the offers that these lack. */
export interface AppliedExports {
  source: SourceExports;
  removed: PresentOffer[];
}

/** Smaller catalogs turn over by half in the ordinary course of business. */
const minGuardedOffers = 10;

/** Separates the exports that count from those that wait for an operator. */
export function applicable(sources: readonly SourceExports[]): { applied: AppliedExports[]; held: HeldExport[] } {
  const applied: AppliedExports[] = [];
  const held: HeldExport[] = [];
  for (const source of sources) {
    const removed = removals(source);
    const holds = source.released ? undefined : tooManyRemovals(source, removed);
    if (holds) held.push(holds);
    else applied.push({ source, removed });
  }
  return { applied, held };
}

/** The offers that a plan is about, by source. */
export function plannedOffers({ source, removed }: AppliedExports): string[] {
  return [
    ...source.exports.flatMap(({ accepted }) => accepted.map(({ offer }) => offer.external_id)),
    ...removed.map(({ externalId }) => externalId),
  ];
}

/**
 * Works out what the exports that count change in the catalog. Changes nothing itself.
 * `known` are the present versions of the offers that these are about, `owners` the offers that have an id which may be
 * given: all that ever were, where an offer is new.
 */
export function planCatalog(
  asOf: Moment,
  known: readonly KnownOffer[],
  owners: Iterable<OfferName & { offerId: number }>,
  applied: readonly AppliedExports[],
): CatalogPlan {
  const plan: CatalogPlan = { versions: [], settled: [], destinations: [], idTaken: [], idKept: [] };
  const rows = applied.flatMap(({ source: { source, exports } }) =>
    exports.flatMap(({ accepted }) =>
      accepted.map(({ offer }) => ({ source, externalId: offer.external_id, id: offer.id })),
    ),
  );
  const outcomes = assignIds(owners, rows).values();
  const knownBySource = Map.groupBy(known, (offer) => offer.source);
  const vanished: NewVersion[] = [];
  for (const { source, removed } of applied) {
    const offers = new Map((knownBySource.get(source.source) ?? []).map((offer) => [offer.externalId, offer]));
    for (const { offerId, catalog, accepted } of latestRecords(source, outcomes, plan)) {
      const last = offers.get(accepted.offer.external_id);
      const version = nextVersion(asOf, offerId, source.source, accepted.offer, last);
      if (version) plan.versions.push(version);
      else plan.destinations.push(...lackingDestination(accepted.offer, last));
      plan.settled.push(...settled(asOf, offerId, catalog, accepted, last, version));
    }
    const gone = removed.flatMap(({ externalId }) => offers.get(externalId) ?? []);
    vanished.push(...gone.map((offer) => vanish(asOf, offer)));
  }
  plan.versions.push(...vanished);
  return plan;
}

interface LatestRecord {
  offerId: number;
  catalog: CatalogExport;
  accepted: AcceptedRecord;
}

/**
 * The last of several delta files about one offer decides; one run makes one version of it. Notes in the
 * plan what became of the ids that records bring: `outcomes` are those of the accepted records, in their order.
 */
function latestRecords(
  { exports }: SourceExports,
  outcomes: Iterator<IdOutcome, undefined>,
  plan: CatalogPlan,
): Iterable<LatestRecord> {
  const latest = new Map<string, LatestRecord>();
  for (const catalog of exports) {
    for (const accepted of catalog.accepted) {
      const outcome = outcomes.next().value;
      if (outcome === undefined || outcome === 'id_taken') {
        plan.idTaken.push({ catalog, accepted });
        continue;
      }
      if (outcome.kept) plan.idKept.push({ catalog });
      latest.set(accepted.offer.external_id, { offerId: outcome.offerId, catalog, accepted });
    }
    // It has them as they are in the catalog, whatever an earlier one says.
    for (const externalId of catalog.unchanged) latest.delete(externalId);
  }
  return latest.values();
}

/** Offers that a full export lacks. An export that may be incomplete proves nothing. */
export function removals({ mode, present, exports: [catalog] }: SourceExports): PresentOffer[] {
  if (mode === 'delta' || catalog === undefined || catalog.incomplete !== null) return [];
  const { accepted, unchanged, rejectedIds } = catalog;
  const read = new Set(accepted.map(({ offer }) => offer.external_id));
  const isThere = (id: string) => unchanged.has(id) || read.has(id) || rejectedIds.has(id);
  return present.filter(({ status, externalId }) => status !== 'vanished' && !isThere(externalId));
}

/** An export that removes more than half of the active offers is rather broken than a decision. */
function tooManyRemovals(
  { present, exports: [catalog] }: SourceExports,
  removed: readonly PresentOffer[],
): HeldExport | undefined {
  const isActive = ({ status }: PresentOffer) => status === 'active';
  const active = present.filter(isActive).length;
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
  const older = last && digestsAsWritten(offer, createdAt);
  if (last !== undefined && last.contentSha256 === older?.contentSha256) return undefined;
  const looksTheSame = [digests, older].some((each) => each?.publishedSha256 === last?.publishedSha256);
  return {
    offerId,
    source,
    externalId: offer.external_id,
    change: last === undefined ? 'added' : last.status === 'vanished' ? 'returned' : 'changed',
    version: (last?.version ?? 0) + 1,
    validFrom: validFrom(asOf, last),
    status: offer.status,
    updatedAt: last !== undefined && looksTheSame ? last.updatedAt : asOf,
    content: { offer, createdAt },
    ...digests,
  };
}

/**
 * The record, where reading it again would make no other version, no warning of its id, and what else it makes is kept.
 */
function settled(
  asOf: Moment,
  offerId: number,
  { readAsSha256 }: CatalogExport,
  { offer, recordSha256, remarks }: AcceptedRecord,
  last: KnownOffer | undefined,
  next: NewVersion | undefined,
): SettledRecord[] {
  const version = next?.version ?? last?.version;
  // One that has returned still has the date of before, and takes the record's with the next export.
  const keepsItsDate =
    next?.content === undefined || next.content?.createdAt === (offer.created_at ?? last?.firstSeenAt ?? asOf);
  const hasItsId = offer.id === null || offer.id === offerId;
  if (version === undefined || remarks === undefined || !keepsItsDate || !hasItsId) return [];
  return [{ offerId, version, recordSha256, readAsSha256, remarks }];
}

/** The source's date, else the moment we first saw the offer; an offer that returns keeps its date. */
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
