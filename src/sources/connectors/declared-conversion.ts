import { compileMapping } from '../../kit/intake/mapping/compile-mapping.ts';
import { conversionKinds } from '../../kit/vocabulary/values.ts';
import { statusOfState } from '../conversions/emitted-conversions.ts';
import { fieldsSchema, type FieldMap } from '../../kit/intake/mapping/mapping-schema.ts';
import { scalarText } from '../../kit/intake/mapping/places.ts';
import { rowFilter } from '../../kit/intake/mapping/rows.ts';
import type { Condition } from '../../kit/intake/mapping/rows-schema.ts';
import { jsonId } from '../../kit/text/json-id.ts';
import type { JsonObject, JsonValue } from '../../kit/text/json-text.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import type { NetworkConversion, NoConversion } from './network-conversion.ts';

/**
 * A list that is pulled again and again says what state each conversion is in: a row of state, the newest by itself.
 */
export const conversionFieldsSchema = fieldsSchema('conversions', {
  names: ['conversion_id', 'click_id', 'status', 'occurred_at', 'changed_at', 'payout', 'currency'].concat([
    'event_id',
    'reason',
    'later_id',
  ]),
  required: [['conversion_id'], ['click_id'], ['status'], ['occurred_at']],
});

/** How corrections of conversions are recognised, and which conversion each corrects. */
export interface CorrectionRule {
  of: string;
  rows: readonly Condition[];
}

/** Makes the function that converts a record as an operator declared it. */
export function declaredConversion(mapping: {
  rows?: readonly Condition[] | undefined;
  corrections?: CorrectionRule | undefined;
  fields: FieldMap;
}): (record: NetworkRecord) => NetworkConversion | NoConversion {
  const compiled = compileMapping({ rows: mapping.rows, fields: mapping.fields }, 'conversions');
  const { corrections } = mapping;
  const corrects = rowFilter(corrections?.rows);
  return (record) => {
    const mapped = compiled.map(record.value);
    if ('passedOver' in mapped) return 'passed_over';
    const conversion = conversionOf(mapped.record);
    if (corrections === undefined || typeof conversion === 'string') return conversion;
    return { ...conversion, sharedId: record.id(corrections.of), isCorrection: corrects(record.value) };
  };
}

function conversionOf(record: JsonObject): NetworkConversion | NoConversion {
  const read = (name: string) => textOf(record, name, scalarText);
  const readId = (name: string) => textOf(record, name, jsonId);
  const [id, clickId, eventId] = [readId('conversion_id'), readId('click_id'), readId('event_id')];
  const laterId = readId('later_id');
  if (id === undefined || id === null || clickId === null || eventId === null) return 'unreadable';
  const status = conversionKinds.find((state) => state === record['status']);
  if (status === undefined) return 'unknown_status';
  const [occurredAt, changedAt] = [read('occurred_at'), read('changed_at')];
  if (occurredAt === undefined || occurredAt === null || changedAt === null) return 'bad_time';
  const [payout, currency] = [read('payout'), read('currency')];
  // Without an amount the catalog's would count.
  if (payout === null || currency === null) return 'bad_payout';
  return {
    id,
    laterId: laterId ?? undefined,
    clickId,
    status: statusOfState[status],
    occurredAt,
    changedAt,
    payout,
    currency,
    eventId,
    reason: read('reason') ?? undefined,
  };
}

/** Returns a trimmed text; undefined for an absent or blank one, null for what is no text or could not be read. */
function textOf(
  record: JsonObject,
  name: string,
  read: (value: JsonValue) => string | undefined | null,
): string | undefined | null {
  const value = record[name];
  if (value === undefined || value === null) return undefined;
  const text = read(value)?.trim();
  return text === '' ? undefined : (text ?? null);
}
