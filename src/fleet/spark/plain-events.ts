import type { LogField, LogFieldType, LogSchema } from '../../pipeline/landing/logs/log-fields.ts';
import { plainObject } from '../../pipeline/landing/logs/log-parser.ts';
import { numberOfDay } from '../../kit/time/day-number.ts';
import { alpha2Countries } from '../../kit/vocabulary/countries.ts';
import { conversionKinds, devices, type EventKind } from '../../kit/vocabulary/values.ts';
import type { SteadyDays } from './local-times.ts';

/** A text as a literal of Spark's SQL, in which a backslash begins an escape. */
function sparkText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/**
 * Spark's SQL over lines `(position, file_id, block, id, raw)`: the same with the schema's fields, `event_key` and
 * `day_number` of the lines that are decided here, whose `raw` is NULL. Decided is what is plain by the same proof as
 * in `log-parser.ts` and good in every field beyond doubt, so that nobody else has to be asked: Spark's JSON is laxer
 * than ours, and its numbers, calendars and letters are not those of DuckDB everywhere. Every other line, a blank one
 * too, goes on as it is. `steady`: days on which times without an offset can be understood.
 */
export function plainEvents(schema: LogSchema, lines: string, steady: readonly SteadyDays[] = []): string {
  const { fields } = schema;
  const shape = sparkText(fields.map(({ name }) => `${name} STRING`).join(', '));
  const ifGood = (value: string, name: string) => `CASE WHEN is_good THEN ${value} END AS ${name}`;
  return `
    SELECT position, file_id, block, id, CASE WHEN NOT is_good THEN raw END AS raw,
      ${fields.map((field) => ifGood(valueOf(field), field.name)).join(',\n      ')},
      ${ifGood(sparkEventKey[schema.kind], 'event_key')},
      ${ifGood(dayNumber(`${schema.time}_value`), 'day_number')}
    FROM (
      SELECT *, coalesce(${isPlain(schema)} AND ${isGood(schema, steady.length > 0)}, false) AS is_good
      FROM (
        SELECT *, ${fields.flatMap((field) => computed(field, steady)).join(', ')}
        FROM (
          SELECT position, file_id, block, id, raw, ${fields.map(({ name }) => `texts.${name} AS ${name}`).join(', ')}
          FROM (SELECT *, from_json(raw, ${shape}) AS texts FROM ${lines}))))`;
}

/**
 * As `isPlain` in `log-parser.ts`, and with fields that are null, as what was Parquet has them: they are missing, but
 * their names count.
 */
function isPlain(schema: LogSchema): string {
  const { fields } = schema;
  const present = fields.map(({ name }) => `int(${name} IS NOT NULL)`).join(' + ');
  const isNull = ({ name }: LogField) =>
    `int(${name} IS NULL AND (contains(raw, '"${name}":null') OR contains(raw, '"${name}": null')))`;
  const empty = `CASE WHEN contains(raw, 'null') THEN ${fields.map(isNull).join(' + ')} ELSE 0 END`;
  // Behind every name there is this; where it is not also somewhere else, there are as many names as fields.
  const named = `(length(raw) - length(replace(raw, '":', ''))) / 2`;
  // Each field is there once at most. Java's stack would overflow over a line of thousands.
  const pattern = `^${plainObject(schema, `{0,${fields.length - 1}}`, 'null')}\\z`;
  return `(${isAsWrittenAgain(schema)} OR (raw RLIKE ${sparkText(pattern)} AND ${named} = ${present} + ${empty}))`;
}

/** As `isAsWrittenAgain` in `log-parser.ts`. */
function isAsWrittenAgain({ fields, required }: LogSchema): string {
  const written = (colon: string, comma: string) => {
    const parts = fields.map(({ name, bare }, index) => {
      const before = `${index === 0 ? '{' : comma}"${name}"${colon}`;
      if (bare !== undefined) return `concat(${sparkText(before)}, ${name})`;
      const [start, end] = [sparkText(`${before}"`), sparkText('"')];
      return required.includes(name) ? `${start}, ${name}, ${end}` : `concat(${start}, ${name}, ${end})`;
    });
    // Leaves out what is NULL.
    return `raw = concat_ws('', ${parts.join(', ')}, '}')`;
  };
  const numbers = fields.flatMap(({ name, bare }) =>
    bare === undefined ? [] : [`(${name} IS NULL OR ${name} RLIKE '^(0|[1-9][0-9]{0,8})([.][0-9]{1,6})?\\\\z')`],
  );
  const hasSpaces = `startswith(raw, ${sparkText(`{"${fields[0]?.name}": `)})`;
  return `(CASE WHEN ${hasSpaces} THEN ${written(': ', ', ')} ELSE ${written(':', ',')} END AND ${numbers.join(' AND ')})`;
}

function isGood(schema: LogSchema, withLocal: boolean): string {
  const needed = schema.required.map((name) => `${name} IS NOT NULL`);
  const offer =
    schema.kind === 'clicks' ? ['(offer_id IS NOT NULL OR (source IS NOT NULL AND external_id IS NOT NULL))'] : [];
  return [...needed, ...offer, ...schema.fields.flatMap((field) => goodness(field, schema, withLocal))].join(
    '\n        AND ',
  );
}

const localTime =
  '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?';
/** Before it calendars and zones have their oddities, which are left to one engine. */
const earliest = `TIMESTAMP '1970-01-02 00:00:00'`;

/** Condition that a field without questions meets: a rejected, dropped or doubtful value fails it. */
function goodness({ name, type }: LogField, { reading }: LogSchema, withLocal: boolean): string[] {
  const orNone = (condition: string) => [`(${name} IS NULL OR ${condition})`];
  const ofType: Record<LogFieldType, string[]> = {
    identifier: [`octet_length(${name}) <= 128`, `${name} RLIKE '^[ -~]+\\\\z'`],
    'offer number': orNone(`${name} RLIKE '^[1-9][0-9]{0,8}\\\\z'`),
    name: orNone(`octet_length(${name}) BETWEEN 1 AND 256`),
    time: [
      `${name} RLIKE ${sparkText(`${localTime}(Z|[+-](0[0-9]|1[0-7]):[0-5][0-9])${withLocal ? '?' : ''}\\z`)}`,
      `${name}_value >= ${earliest}`,
      `${name}_value <= TIMESTAMP ${sparkText(reading.wallClock)} + INTERVAL 24 HOURS`,
    ],
    // Of other alphabets' letters some become ours in capitals, not the same ones everywhere.
    country: orNone(
      `(${name} RLIKE '^[A-Za-z]+\\\\z' AND upper(${name}) IN (${alpha2Countries.map(sparkText).join(', ')}))`,
    ),
    device: orNone(`(${name} RLIKE '^[A-Za-z]+\\\\z' AND lower(${name}) IN (${devices.map(sparkText).join(', ')}))`),
    'conversion kind': [`${name} IN (${conversionKinds.map(sparkText).join(', ')})`],
    payout: orNone(`${name}_text RLIKE '^[0-9]{1,9}([.][0-9]{1,6})?\\\\z'`),
    text: [],
  };
  return ofType[type];
}

/** Expressions that more than one of the conditions and values needs. */
function computed({ name, type }: LogField, steady: readonly SteadyDays[]): string[] {
  if (type === 'time') return [`${momentOf(name, steady)} AS ${name}_value`];
  // A number is cut out of the line: the parser has passed it through binary floating point.
  if (type === 'payout')
    return [`coalesce(nullif(regexp_extract(raw, '"payout": ?([0-9.]+)', 1), ''), ${name}) AS ${name}_text`];
  return [];
}

/** The session's zone is UTC, so a time without an offset is first taken for one of UTC. */
function momentOf(name: string, steady: readonly SteadyDays[]): string {
  const written = `try_cast(${name} AS TIMESTAMP)`;
  if (steady.length === 0) return written;
  const spans = steady.map(
    ({ from, to, ahead }) =>
      `WHEN ${written} >= TIMESTAMP '${from}' AND ${written} < TIMESTAMP '${to}' THEN ${written} - INTERVAL '${ahead}' SECOND`,
  );
  return `CASE WHEN NOT ${name} RLIKE ${sparkText(`${localTime}\\z`)} THEN ${written} ${spans.join(' ')} END`;
}

function valueOf({ name, type }: LogField): string {
  const made: Partial<Record<LogFieldType, string>> = {
    'offer number': `try_cast(${name} AS INT)`,
    time: `${name}_value`,
    country: `upper(${name})`,
    device: `lower(${name})`,
    payout: `try_cast(${name}_text AS DECIMAL(15, 6))`,
  };
  return made[type] ?? name;
}

/** As `eventKey`: see `src/kit/vocabulary/event-key.ts`. */
const textKey = (text: string) => `CAST(conv(left(md5(${text}), 15), 16, 10) AS BIGINT)`;
const sparkEventKey: Record<EventKind, string> = {
  clicks: textKey('click_id'),
  conversions: textKey(`concat(kind, ':', conversion_id)`),
};

/** As in `src/kit/time/day-number.ts`. */
const dayNumber = (time: string) => `unix_date(CAST(${time} AS DATE)) + ${numberOfDay('1970-01-01')}`;
