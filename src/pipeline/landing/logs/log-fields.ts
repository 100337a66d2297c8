import { alpha2Countries } from '../../../kit/vocabulary/countries.ts';
import { conversionKinds, devices, type EventKind } from '../../../kit/vocabulary/values.ts';
import { quoted } from '../../../kit/text/sql-text.ts';
import { momentInZone } from '../../../kit/time/zone.ts';

/** A row is rejected for the first that holds. SQL that is never true for a good row. */
export interface LogFault {
  when: string;
  reason: string;
  /** No plain line can have it. */
  neverOfPlain?: boolean;
}

/** What a field holds, for engines that have rules of their own for its good values. */
export type LogFieldType =
  'identifier' | 'offer number' | 'name' | 'time' | 'country' | 'device' | 'conversion kind' | 'payout' | 'text';

/**
 * One field of a click or conversion log, as SQL over its text. `name` is a text column in that SQL, beside it `raw`,
 * the line, `record`, the same with its half surrogates replaced, and `is_plain`, whether it is known to be plain JSON;
 * `value` is the typed column made of it. A fault rejects the row, a drop only loses the value.
 */
export interface LogField {
  name: string;
  type: LogFieldType;
  value: string;
  /** A condition that several faults ask for, computed once as the column `<name>_unlike`. */
  unlike?: string;
  /** In the order in which they are asked for. */
  faults: LogFault[];
  /** Holds where a descriptive value made no sense and became NULL. */
  dropped?: string;
  /** Of a field that is written without quotes: what holds of a number in plain digits. */
  bare?: string;
}

export interface LogSchema {
  kind: EventKind;
  reading: LogReading;
  fields: LogField[];
  /** Moment of the event, which decides its day. */
  time: string;
  /** What makes an event one. */
  key: string[];
  /** Fields without which a file with a header cannot be this log. */
  required: string[];
}

export interface LogReading {
  /** RFC 3339; a timestamp more than 24 hours after it is refused. */
  wallClock: string;
  /** Zone of timestamps without an offset; without one such rows are rejected. */
  timeZone?: string | undefined;
}

export function clickSchema(reading: LogReading): LogSchema {
  return {
    kind: 'clicks',
    reading,
    time: 'clicked_at',
    key: ['click_id'],
    required: ['click_id', 'site_key', 'user_id', 'clicked_at'],
    fields: [
      identifierField('click_id'),
      {
        name: 'offer_id',
        type: 'offer number',
        value: 'TRY_CAST(offer_id AS INTEGER)',
        bare: 'TRY_CAST(offer_id AS INTEGER)::VARCHAR = offer_id',
        faults: [
          { when: 'offer_id IS NULL AND (source IS NULL OR external_id IS NULL)', reason: 'missing_offer' },
          {
            when: `offer_id IS NOT NULL AND (offer_id_value IS NULL OR offer_id_value < 1 OR NOT regexp_full_match(offer_id, '[0-9]+'))`,
            reason: 'bad_offer_id',
          },
        ],
      },
      nameField('source'),
      nameField('external_id'),
      requiredNameField('site_key'),
      requiredNameField('user_id'),
      timeField('clicked_at', reading),
      listedField('country', `TRY_CAST(upper(country) AS ENUM(${alpha2Countries.map(quoted).join(', ')}))::VARCHAR`),
      listedField('device', `TRY_CAST(lower(device) AS ENUM(${devices.map(quoted).join(', ')}))::VARCHAR`),
      textField('ip'),
      textField('user_agent'),
      textField('sub1'),
      textField('sub2'),
    ],
  };
}

export function conversionSchema(reading: LogReading): LogSchema {
  return {
    kind: 'conversions',
    reading,
    time: 'occurred_at',
    key: ['conversion_id', 'kind'],
    required: ['conversion_id', 'click_id', 'kind', 'occurred_at'],
    fields: [
      identifierField('conversion_id'),
      identifierField('click_id'),
      {
        name: 'kind',
        type: 'conversion kind',
        value: 'kind',
        faults: [
          { when: 'kind IS NULL', reason: 'missing_kind' },
          { when: `kind NOT IN (${conversionKinds.map(quoted).join(', ')})`, reason: 'bad_kind' },
        ],
      },
      timeField('occurred_at', reading),
      nameField('event_id'),
      payoutField,
      textField('reason'),
    ],
  };
}

/**
 * Gross USD. A JSON number is cut out of the line, since a parser would pass it through binary floating point. A plain
 * line names its payout once; elsewhere a nested object may have its own, and only a number of the same value as what
 * the parser found can be meant. Where that is written with different digits the row is refused rather than guessed.
 */
const payoutField: LogField = (() => {
  const plainNumber = `nullif(regexp_extract(record, '"payout": ?([0-9.]+)', 1), '')`;
  const written = `regexp_extract_all(record, '"payout"\\s*:\\s*(-?[0-9][0-9.eE+-]*)', 1)`;
  const meant = `list_distinct(list_filter(${written}, lambda text: TRY_CAST(text AS DOUBLE) = TRY_CAST(payout AS DOUBLE)))`;
  // Asked only of rows that have a payout: on a line that is no JSON, `json_type` would stop the whole query.
  const text = `CASE WHEN payout IS NULL THEN NULL WHEN is_plain THEN coalesce(${plainNumber}, payout)
    WHEN json_type(record, '$.payout') = 'VARCHAR' THEN payout WHEN len(${meant}) = 1 THEN ${meant}[1] END`;
  return {
    name: 'payout',
    type: 'payout',
    value: `TRY_CAST(${text} AS DECIMAL(15, 6))`,
    unlike: `payout IS NOT NULL AND NOT coalesce(regexp_full_match(${text}, '[0-9]{1,9}(\\.[0-9]{1,6})?'), false)`,
    bare: `regexp_full_match(payout, '[0-9]{1,18}(\\.[0-9]{1,18})?')`,
    faults: [{ when: 'payout_unlike', reason: 'bad_payout' }],
  };
})();

/** Unique ids: 1–128 printable ASCII characters. */
function identifierField(name: string): LogField {
  return {
    name,
    type: 'identifier',
    value: name,
    faults: [
      { when: `${name} IS NULL`, reason: `missing_${name}` },
      {
        when: `strlen(${name}) NOT BETWEEN 1 AND 128 OR strlen(${name}) <> length(${name}) OR contains(${name}, chr(127))`,
        reason: `bad_${name}`,
      },
      { when: `NOT regexp_full_match(${name}, '[\\x20-\\x7e]+')`, reason: `bad_${name}`, neverOfPlain: true },
      notAName(name),
    ],
  };
}

function nameField(name: string): LogField {
  return {
    name,
    type: 'name',
    value: name,
    faults: [
      { when: `length(${name}) NOT BETWEEN 1 AND 256`, reason: `bad_${name}` },
      { when: `contains(${name}, chr(0))`, reason: `bad_${name}`, neverOfPlain: true },
      notAName(name),
    ],
  };
}

function requiredNameField(name: string): LogField {
  const field = nameField(name);
  return { ...field, faults: [{ when: `${name} IS NULL`, reason: `missing_${name}` }, ...field.faults] };
}

/**
 * Values that are no JSON string or whole number, or of which half a surrogate was replaced: nobody can know what name
 * was meant. Inside CASE, since AND does not keep its right side from being computed.
 */
function notAName(name: string): LogFault {
  const kind = `json_type(record, '$.${name}')`;
  const when = `CASE WHEN ${name} IS NOT NULL THEN (record <> raw AND contains(${name}, chr(65533)))
    OR (${kind} NOT IN ('VARCHAR', 'UBIGINT', 'BIGINT') AND NOT (${kind} = 'DOUBLE' AND regexp_full_match(${name}, '-?[0-9]+'))) END`;
  return { when, reason: `bad_${name}`, neverOfPlain: true };
}

/** What has a NUL is no text: neither addresses nor arguments of programs can hold one. */
function textField(name: string): LogField {
  const value = `CASE WHEN is_plain OR NOT contains(${name}, chr(0)) THEN ${name} END`;
  return { name, type: 'text', value, faults: [], dropped: hasNoValue(name) };
}

function listedField(name: 'country' | 'device', value: string): LogField {
  return { name, type: name, value, faults: [], dropped: hasNoValue(name) };
}

function hasNoValue(name: string): string {
  return `${name} IS NOT NULL AND ${name}_value IS NULL`;
}

/**
 * RFC 3339 with seconds; digits past microseconds are cut by the cast, which knows neither lower-case letters nor leap
 * seconds. One of these counts as the microsecond before it, where there can be one: at the end of a month, UTC.
 */
function timeField(name: string, { wallClock, timeZone }: LogReading): LogField {
  const local = `[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?`;
  const offset = `([Zz]|[+-](0[0-9]|1[0-7]):[0-5][0-9]|[+-]18:00)`;
  const isLocal = `regexp_full_match(${name}, '${local}')`;
  const cast = (text: string) =>
    timeZone === undefined
      ? `TRY_CAST(${text} AS TIMESTAMPTZ)`
      : `CASE WHEN ${isLocal} THEN ${momentInZone(`TRY_CAST(${text} AS TIMESTAMP)`, timeZone)} ELSE TRY_CAST(${text} AS TIMESTAMPTZ) END`;
  const before = cast(`regexp_replace(upper(${name}), ':60(\\.[0-9]+)?', ':59.999999')`);
  const next = `timezone('UTC', ${before}) + INTERVAL 1 MICROSECOND`;
  const leapSecond = `CASE WHEN contains(${name}, ':60') AND date_trunc('month', ${next}) = ${next} THEN ${before} END`;
  const unlike = `NOT regexp_full_match(${name}, '${local}${offset}${timeZone === undefined ? '' : '?'}')`;
  return {
    name,
    type: 'time',
    value: `coalesce(${cast(name)}, ${cast(`upper(${name})`)}, ${leapSecond})`,
    unlike,
    faults: [
      { when: `${name} IS NULL`, reason: `missing_${name}` },
      ...(timeZone === undefined
        ? [{ when: `CASE WHEN ${name}_unlike THEN ${isLocal} END`, reason: 'timestamp_without_offset' }]
        : []),
      // An offset may lead out of the four digits of year that RFC 3339 has.
      {
        when: `${name}_unlike OR ${name}_value IS NULL OR ${name}_value < TIMESTAMPTZ '0001-01-01 00:00:00+00'`,
        reason: `bad_${name}`,
      },
      { when: `${name}_value > TIMESTAMPTZ ${quoted(wallClock)} + INTERVAL 24 HOURS`, reason: 'future_timestamp' },
    ],
  };
}
