import type { JsonObject } from '../../kit/text/json-text.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import type { NetworkConversion } from './network-conversion.ts';
import type { StreamDeclaration } from './declaration.ts';

/** What a connector's code knows of the source beside the record. */
export interface SourceSettings {
  /** Of amounts whose currency the network does not say, or says by a mere sign; ISO 4217. */
  currency?: string | undefined;
  /** Whether offers that forbid incentives are kept. */
  keepNonIncentive: boolean;
}

/**
 * A record as landing reads it (contract section 2), with what was not understood of it; or why it is deliberately left
 * out. What cannot become an offer is passed on all the same, so that landing rejects it by name and the offer stays.
 */
export type CanonicalRecord = { record: JsonObject; warnings?: readonly string[] } | { leftOut: string };

/** A network's API: data, and one pure function for each kind of record. */
export interface Connector {
  readonly name: string;
  /** Without one every source has to say its own. */
  readonly baseUrl?: string;
  /** Names of the secrets that it needs. */
  readonly secrets: readonly string[];
  readonly offers?: StreamDeclaration & {
    /** Whether a whole pull has all offers of the account; otherwise the source is to be declared `delta`. */
    isFull: boolean;
    toCanonical: (record: NetworkRecord, source: SourceSettings) => CanonicalRecord;
  };
  readonly conversions?: StreamDeclaration & {
    /** The network lists so many days at once, `{from}` to `{to}`, as `YYYY-MM-DD`. */
    windowDays: number;
    /** Undefined where the record cannot be told from others or has no time. */
    toConversion: (record: NetworkRecord) => NetworkConversion | undefined;
  };
}
