import { conversionKinds } from '../../src/kit/vocabulary/values.ts';
import type { JsonValue } from '../../src/kit/text/json-text.ts';
import type { ReadConversion } from '../../src/sources/check-source.ts';
import type { NetworkConversion, NoConversion } from '../../src/sources/connectors/network-conversion.ts';
import { statusOfState } from '../../src/sources/conversions/emitted-conversions.ts';
import { readyConversion, type ConversionReading } from '../../src/sources/conversions/ready-conversion.ts';
import type { ConvertedRecord } from '../../src/sources/records/traced-places.ts';
import { pulledCure } from './cures.ts';
import { countReasons, sampledRecord, type CountedReason, type SampledRecord } from './sampled-record.ts';

/** The conversions of a page as they would be, the first of them beside the network's records. */
export interface ConversionsSample {
  records: number;
  left_out: CountedReason[];
  sample: SampledRecord[];
}

interface ConversionsReading extends ConversionReading {
  convert: (record: JsonValue) => NetworkConversion | NoConversion;
  redact: (text: string) => string;
}

export function sampleConversions(
  records: readonly ReadConversion[],
  shown: number,
  reading: ConversionsReading,
): ConversionsSample {
  const cure = (reason: string) => pulledCure(reason, reading.source);
  const ready = records.map(({ read }) => (typeof read === 'string' ? read : readyConversion(read, reading)));
  return {
    records: records.length,
    left_out: countReasons(
      ready.filter((read) => typeof read === 'string'),
      cure,
    ),
    sample: records.slice(0, shown).map(({ record, read }, index) => {
      const became = ready[index] as (typeof ready)[number];
      const reason = typeof became === 'string' ? became : null;
      const stored = typeof became === 'string' ? {} : { occurred_at: became.occurredAt, payout: became.payout };
      const own = fieldsOf(read);
      return {
        id: typeof read === 'string' ? null : reading.redact(read.id),
        becomes: reason === null ? 'conversion' : 'left_out',
        reason,
        cure: reason === null ? null : cure(reason),
        warnings: [],
        ...sampledRecord(
          record,
          { ...own, ...stored },
          (other) => fieldsOf(reading.convert(other), own),
          reading.redact,
        ),
      };
    }),
  };
}

/** Fields without which a record is no conversion, by the reason. */
const lackedFields: Partial<Record<NoConversion, string>> = {
  unreadable: 'conversion_id',
  unknown_status: 'status',
  bad_time: 'occurred_at',
  bad_payout: 'payout',
};

/**
 * The fields of a conversion under the names of landing. A record that is none has those of `unchanged`, but for the
 * one that it lacks: the others do not depend on what was changed.
 */
function fieldsOf(read: NetworkConversion | NoConversion, unchanged: ConvertedRecord = {}): ConvertedRecord {
  if (typeof read === 'string') return { ...unchanged, [lackedFields[read] ?? 'left_out']: read };
  return {
    conversion_id: read.id,
    click_id: read.clickId,
    status: conversionKinds.find((kind) => statusOfState[kind] === read.status),
    occurred_at: read.occurredAt,
    changed_at: read.changedAt,
    payout: read.payout,
    currency: read.currency,
    event_id: read.eventId,
    reason: read.reason,
  };
}
