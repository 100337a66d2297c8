import type { JsonObject } from '../../kit/text/json-text.ts';
import type { ClickIdPlace } from '../records/click-link.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import type { NetworkConversion, NoConversion } from './network-conversion.ts';
import type { Stream, StreamDeclaration } from './declaration.ts';

/** Settings of the source that a connector's code uses. */
export interface SourceSettings {
  /** ISO 4217, for amounts without a currency or with a sign only. */
  currency?: string | undefined;
  /** Keeps offers that forbid incentives. */
  keepNonIncentive: boolean;
}

/**
 * A record as landing reads it, with warnings, or the reason why it is deliberately left out. A record that cannot
 * become an offer is passed on, so that landing rejects it by name and keeps the offer as it was.
 */
export type CanonicalRecord = { record: JsonObject; warnings?: readonly string[] } | { leftOut: string };

/** How a network gives the link of a campaign that an offer names: by a request with `{campaign}`. */
export interface CampaignRequest {
  stream: Stream;
  /** The campaign of an offer; undefined where the account has not joined it. */
  campaignOf: (record: NetworkRecord) => string | undefined;
  /** The link among the records of the answer. */
  linkOf: (records: readonly NetworkRecord[]) => string | undefined;
}

/** Returns undefined, or the reason, for a record that is no conversion, such as one without an id or a time. */
export type ToConversion = (record: NetworkRecord) => NetworkConversion | NoConversion | undefined;

/** A network's API: data, and one pure function for each kind of record. */
export interface Connector {
  readonly name: string;
  /** What an operator chooses it by, in one line. */
  readonly note?: string;
  /** Without a default every source states its own. */
  readonly baseUrl?: string;
  /** Names of the secrets that it needs. */
  readonly secrets: readonly string[];
  /** Where the network shows them. */
  readonly secretHints?: Readonly<Record<string, string>>;
  readonly offers?: StreamDeclaration & {
    /** True where a complete pull has all offers of the account; otherwise the source is declared `delta`. */
    isFull: boolean;
    clickId: ClickIdPlace;
    toCanonical: (record: NetworkRecord, source: SourceSettings) => CanonicalRecord;
  };
  readonly conversions?: StreamDeclaration & {
    /** The network lists so many days at once, `{from}` to `{to}`, as `YYYY-MM-DD`. */
    windowDays: number;
    toConversion: ToConversion;
  };
}
