/** Microseconds since the epoch, UTC. */
export type Micros = bigint;
/** Millionths of a dollar. */
export type Millionths = bigint;

/** An offer as one catalog export has it. */
export interface ExportedOffer {
  offerId: number;
  source: string;
  externalId: string;
  status: 'active' | 'paused';
  payout: Millionths;
  milestones: ReadonlyMap<string, Millionths>;
}

export interface Click {
  clickId: string;
  /** By its public id, or by its name at the source. */
  offer: { id: number } | { source: string; externalId: string };
  siteKey: string;
  userId: string;
  clickedAt: Micros;
}

export interface ConversionEvent {
  conversionId: string;
  clickId: string;
  kind: 'pending' | 'credit' | 'reject' | 'chargeback';
  occurredAt: Micros;
  eventId: string | null;
  payout: Millionths | null;
}

/** One run: its as-of and what landed since the run before. */
export interface Landing {
  asOf: Micros;
  /** The newest full export of the one source; null where none landed. */
  catalog: readonly ExportedOffer[] | null;
  clicks: readonly Click[];
  events: readonly ConversionEvent[];
}
