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
  /** Records that turned out to bring another offer's id. */
  idTaken: AcceptedRecord[];
  /** The export of each record whose offer keeps the id that it has. */
  idKept: CatalogExport[];
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
  const outcomes = idOutcomes(owners, applied);
  const knownBySource = Map.groupBy(known, ({ source }) => source);
  const plans = applied.map((exports) =>
    planSource(asOf, knownBySource.get(exports.source.source) ?? [], exports, outcomes),
  );
  return {
    versions: [...plans.flatMap(({ versions }) => versions), ...plans.flatMap(({ vanished }) => vanished)],
    settled: plans.flatMap((plan) => plan.settled),
    destinations: plans.flatMap(({ destinations }) => destinations),
    idTaken: plans.flatMap(({ idTaken }) => idTaken),
    idKept: plans.flatMap(({ idKept }) => idKept),
  };
}

/** What becomes of the id of each accepted record, in their order, by export. */
type IdOutcomes = ReadonlyMap<CatalogExport, readonly IdOutcome[]>;

/** Assigns the ids of all sources at once: one that a record brings is given to no other offer. */
function idOutcomes(owners: Iterable<OfferName & { offerId: number }>, applied: readonly AppliedExports[]): IdOutcomes {
  const exports = applied.flatMap(({ source: { source, exports: ofSource } }) =>
    ofSource.map((catalog) => ({ source, catalog })),
  );
  const outcomes = assignIds(
    owners,
    exports.flatMap(({ source, catalog }) =>
      catalog.accepted.map(({ offer }) => ({ source, externalId: offer.external_id, id: offer.id })),
    ),
  );
  let end = 0;
  return new Map(exports.map(({ catalog }) => [catalog, outcomes.slice(end, (end += catalog.accepted.length))]));
}

/** A source's part of the plan. Vanished offers come after the versions of all sources. */
interface SourcePlan extends CatalogPlan {
  vanished: NewVersion[];
}

function planSource(
  asOf: Moment,
  known: readonly KnownOffer[],
  { source, removed }: AppliedExports,
  outcomes: IdOutcomes,
): SourcePlan {
  const offers = new Map(known.map((offer) => [offer.externalId, offer]));
  const gone = removed.flatMap(({ externalId }) => offers.get(externalId) ?? []);
  const { latest, ...ids } = latestRecords(source, outcomes);
  const vanished = gone.map((offer) => vanish(asOf, offer));
  const plan: SourcePlan = { versions: [], vanished, settled: [], destinations: [], ...ids };
  for (const record of latest) {
    const last = offers.get(record.accepted.offer.external_id);
    const version = nextVersion(asOf, record, last);
    if (version) plan.versions.push(version);
    else plan.destinations.push(...lackingDestination(record.accepted.offer, last));
    plan.settled.push(...settled(asOf, record, last, version));
  }
  return plan;
}

/** A record that decides what its offer is. */
interface LatestRecord {
  source: string;
  offerId: number;
  catalog: CatalogExport;
  accepted: AcceptedRecord;
}

/** The last of several delta files about one offer decides; one run makes one version of it. */
function latestRecords(
  { source, exports }: SourceExports,
  outcomes: IdOutcomes,
): Pick<CatalogPlan, 'idTaken' | 'idKept'> & { latest: Iterable<LatestRecord> } {
  const latest = new Map<string, LatestRecord>();
  const idTaken: AcceptedRecord[] = [];
  const idKept: CatalogExport[] = [];
  for (const catalog of exports) {
    const ofExport = outcomes.get(catalog) as readonly IdOutcome[];
    for (const [index, accepted] of catalog.accepted.entries()) {
      const outcome = ofExport[index] as IdOutcome;
      if (outcome === 'id_taken') {
        idTaken.push(accepted);
        continue;
      }
      if (outcome.kept) idKept.push(catalog);
      latest.set(accepted.offer.external_id, { source, offerId: outcome.offerId, catalog, accepted });
    }
    // It has them as they are in the catalog, whatever an earlier one says.
    for (const externalId of catalog.unchanged) latest.delete(externalId);
  }
  return { latest: latest.values(), idTaken, idKept };
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
  { source, offerId, accepted: { offer } }: LatestRecord,
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
  { offerId, catalog: { readAsSha256 }, accepted: { offer, recordSha256, remarks } }: LatestRecord,
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
