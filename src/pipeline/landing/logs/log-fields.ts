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

/** Kind of a field's value, for engines that have rules of their own for its good values. */
export type LogFieldType =
  'identifier' | 'offer number' | 'name' | 'time' | 'country' | 'device' | 'conversion kind' | 'payout' | 'text';

/**
 * Field of a click or conversion log, as SQL over its text. `name` is a text column in that SQL, beside it `raw`, the
 * line, `record`, the same with its half surrogates replaced, and `is_plain`, whether it is known to be plain JSON;
 * `value` is the typed column made of it. A fault rejects the row, a drop only loses the value.
 */
export interface LogField {
  name: string;
  type: LogFieldType;
  value: string;
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
  /** Columns that identify an event. */
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
            when: `offer_id IS NOT NULL AND (offer_id_value IS NULL OR offer_id_value < 1 OR NOT regexp_full_match(offer_id, '[0-9]+(\\.0+)?'))`,
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
  const isPlainMoney = `regexp_full_match(${text}, '[0-9]{1,9}(\\.[0-9]{1,6})?')`;
  return {
    name: 'payout',
    type: 'payout',
    value: `CASE WHEN ${isPlainMoney} THEN TRY_CAST(${text} AS DECIMAL(15, 6)) ELSE ${spelledMoney(text)} END`,
    bare: `regexp_full_match(payout, '[0-9]{1,18}(\\.[0-9]{1,18})?')`,
    faults: [{ when: 'payout IS NOT NULL AND payout_value IS NULL', reason: 'bad_payout' }],
  };
})();

/**
 * SQL of an amount in another spelling than plain digits: a plus, blanks around, nothing before the point, noughts
 * behind, an exponent. NULL where 6 places do not hold it exactly; 18 places hold any that is compared with them.
 */
function spelledMoney(text: string): string {
  const trimmed = `trim(${text}, ' ' || chr(9))`;
  const short = `regexp_replace(${trimmed}, '(\\.[0-9]*?)0+$', '\\1')`;
  const digits = (places: number) => `\\+?(?:[0-9]{1,18}(?:\\.[0-9]{1,${places}})?|\\.[0-9]{1,${places}})`;
  const isDecimal = `regexp_full_match(${trimmed}, '${digits(40)}') AND regexp_full_match(${short}, '[^.]*(?:\\.[0-9]{0,6})?')`;
  const hasExponent = `regexp_full_match(${trimmed}, '${digits(9)}[eE][+-]?0?[0-9]')`;
  const exact = `TRY_CAST('0' || ltrim(rtrim(${short}, '.'), '+') AS DECIMAL(38, 18))`;
  return `CASE WHEN (${isDecimal}) OR ${hasExponent}
      THEN CASE WHEN ${exact} < 1000000000 AND ${exact} = round(${exact}, 6) THEN ${exact}::DECIMAL(15, 6) END END`;
}

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

/** Field of text, which has no NUL: neither addresses nor arguments of programs can hold one. */
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

/** SQL of a number since the epoch: its digits say whether it counts seconds, milli-, micro- or nanoseconds. */
function sinceEpoch(name: string): string {
  const digits = `regexp_extract(${name}, '^([0-9]{10}(?:[0-9]{3}){0,3})(?:\\.0+)?$', 1)`;
  return `CASE WHEN ${digits} <> '' THEN make_timestamptz(left(rpad(${digits}, 16, '0'), 16)::BIGINT) END`;
}

/**
 * SQL of a timestamp in RFC 3339's own spelling, from one that says the same: without seconds, the offset as `+00`,
 * `+0000`, ` +0000`, ` Z`, ` UTC` or ` GMT`.
 */
function plainSpelling(name: string): string {
  const withSeconds = `regexp_replace(upper(${name}), '^(.{16})( ?(?:Z|UTC|GMT|[+-].*))?$', '\\1:00\\2')`;
  const named = `regexp_replace(${withSeconds}, ' ?(?:Z|UTC|GMT)$', 'Z')`;
  const withMinutes = `regexp_replace(${named}, '(:[0-9.]+) ?([+-][0-9]{2})$', '\\1\\2:00')`;
  return `regexp_replace(${withMinutes}, '(:[0-9.]+) ?([+-][0-9]{2}):?([0-9]{2})$', '\\1\\2:\\3')`;
}

/**
 * RFC 3339, what says the same in another spelling, and numbers since the epoch; digits past microseconds are cut by
 * the cast, which knows neither lower-case letters nor leap seconds. One of these counts as the microsecond before it,
 * where there can be one: at the end of a month, UTC.
 */
function timeField(name: string, { wallClock, timeZone }: LogReading): LogField {
  const local = `[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\\.[0-9]+)?)?`;
  const plainLocal = `[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?`;
  const plainOffset = `([Zz]|[+-](0[0-9]|1[0-7]):[0-5][0-9]|[+-]18:00)`;
  const offset = `( ?((?i:Z|UTC|GMT)|[+-](0[0-9]|1[0-7])(:?[0-5][0-9])?|[+-]18(:?00)?))`;
  const mayLackOffset = timeZone === undefined ? '' : '?';
  const isLocal = (text: string) => `regexp_full_match(${text}, '${local}')`;
  const cast = (text: string) =>
    timeZone === undefined
      ? `TRY_CAST(${text} AS TIMESTAMPTZ)`
      : `CASE WHEN ${isLocal(text)} THEN ${momentInZone(`TRY_CAST(${text} AS TIMESTAMP)`, timeZone)} ELSE TRY_CAST(${text} AS TIMESTAMPTZ) END`;
  const leapSecondOf = (text: string) => {
    const before = cast(`regexp_replace(upper(${text}), ':60(\\.[0-9]+)?', ':59.999999')`);
    const next = `timezone('UTC', ${before}) + INTERVAL 1 MICROSECOND`;
    return `CASE WHEN contains(${text}, ':60') AND date_trunc('month', ${next}) = ${next} THEN ${before} END`;
  };
  const momentOf = (text: string) => `coalesce(${cast(text)}, ${cast(`upper(${text})`)}, ${leapSecondOf(text)})`;
  const isPlain = `regexp_full_match(${name}, '${plainLocal}${plainOffset}${mayLackOffset}')`;
  const isSpelled = `regexp_full_match(${name}, '${local}${offset}${mayLackOffset}')`;
  return {
    name,
    type: 'time',
    value: `CASE WHEN ${isPlain} THEN ${momentOf(name)} WHEN ${isSpelled} THEN ${momentOf(plainSpelling(name))} ELSE ${sinceEpoch(name)} END`,
    faults: [
      { when: `${name} IS NULL`, reason: `missing_${name}` },
      ...(timeZone === undefined
        ? [{ when: `CASE WHEN ${name}_value IS NULL THEN ${isLocal(name)} END`, reason: 'timestamp_without_offset' }]
        : []),
      // An offset may lead out of the four digits of year that RFC 3339 has.
      {
        when: `${name}_value IS NULL OR ${name}_value < TIMESTAMPTZ '0001-01-01 00:00:00+00'`,
        reason: `bad_${name}`,
      },
      { when: `${name}_value > TIMESTAMPTZ ${quoted(wallClock)} + INTERVAL 24 HOURS`, reason: 'future_timestamp' },
    ],
  };
}
