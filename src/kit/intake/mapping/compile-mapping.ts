import { isJsonObject, type JsonObject, type JsonValue } from '../../text/json-text.ts';
import type { LandingKind } from '../../vocabulary/values.ts';
import { listField, valueField, type ReadField } from './compile-field.ts';
import { quotedValue, unread } from './convert-value.ts';
import type { EventsMapping } from './field-schema.ts';
import { mappedFields } from './mapped-fields.ts';
import type { FieldMap } from './mapping-schema.ts';
import { compareDecimals, plainDecimal } from './numbers.ts';
import { scalarText } from './places.ts';
import { objectReader } from './read-members.ts';
import { Reading, type MappingFault } from './reading.ts';
import { rowFilter } from './rows.ts';
import type { Condition } from './rows-schema.ts';

/** What a mapping says of records: which count, and where our fields stand. */
export interface RecordMapping {
  rows?: readonly Condition[] | undefined;
  /** Without it records have our names already. */
  fields?: FieldMap | undefined;
}

/** A record in our form, or none where the mapping passes it over. */
export type MappedRecord =
  | { passedOver: true }
  | {
      record: JsonObject;
      /** Codes of what was understood with a loss, such as `denied_country_unknown`. */
      warnings: readonly string[];
      /** A value that could not be read: it went on as `{"unread": …}`, which landing rejects by the field's code. */
      fault?: MappingFault;
    };

export interface CompiledMapping {
  map(record: JsonValue): MappedRecord;
}

/** Prepares a mapping for the records of a kind. */
export function compileMapping({ rows, fields }: RecordMapping, kind: LandingKind): CompiledMapping {
  const counts = rowFilter(rows);
  const readers = fields === undefined ? undefined : readersOf(fields, kind);
  return {
    map(record) {
      if (!isJsonObject(record)) {
        const problem = `${quotedValue(record)} is no object with fields`;
        return { record: unread(record), warnings: [], fault: { field: '', place: '', problem } };
      }
      if (!counts(record)) return { passedOver: true };
      return readers === undefined ? { record, warnings: [] } : mapRecord(record, readers);
    },
  };
}

type Readers = readonly (readonly [name: string, read: ReadField])[];

function readersOf({ fields, events }: FieldMap, kind: LandingKind): Readers {
  const readers = Object.entries(fields).map(([name, field]) => {
    const read = mappedFields[kind].lists.includes(name) ? listField(name, field) : valueField(name, field);
    return [name, read] as const;
  });
  return events === undefined ? readers : [...readers, ['events', eventsField(events)]];
}

function mapRecord(record: JsonObject, readers: Readers): MappedRecord {
  const reading = new Reading();
  const mapped: JsonObject = {};
  for (const [name, read] of readers) {
    const value = read(record, reading);
    if (value !== undefined) mapped[name] = value;
  }
  if (reading.isPassedOver) return { passedOver: true };
  // An offer that runs nowhere must not run everywhere, as one without countries would.
  if (reading.runsNowhere) mapped['status'] = 'paused';
  const warnings = [...reading.warnings];
  return reading.fault === undefined
    ? { record: mapped, warnings }
    : { record: mapped, warnings, fault: reading.fault };
}

/** Makes the reader of milestones. A word with null passes over its milestone, not the offer. */
function eventsField({ each, rows, when, lowest, event_id, description, payout }: EventsMapping): ReadField {
  const counts = rowFilter(when);
  const objects = objectReader(each, [...(event_id.at ?? []), ...(payout.at ?? [])], rows);
  const readers = Object.entries({ event_id, description, payout }).flatMap(([name, field]) =>
    field === undefined ? [] : [[name, valueField(`events.${name}`, field)] as const],
  );
  return (record, reading) => {
    if (!counts(record)) return undefined;
    const events = objects(record).flatMap((member) => {
      const ofMember = new Reading();
      const event: JsonObject = {};
      for (const [name, read] of readers) {
        const value = read(member, ofMember);
        if (value !== undefined) event[name] = value;
      }
      for (const warning of ofMember.warnings) reading.warnings.add(warning);
      if (ofMember.isPassedOver) return [];
      if (ofMember.fault !== undefined) reading.note(ofMember.fault);
      return [event];
    });
    if (events.length === 0) return undefined;
    return lowest ? lowestById(events, reading.warnings) : events;
  };
}

/** Returns each milestone once, at the lowest of its amounts. What is no number stays, so that landing names it. */
function lowestById(events: readonly JsonObject[], warnings: Set<string>): JsonObject[] {
  const kept: JsonObject[] = [];
  const placeOf = new Map<string, number>();
  for (const event of events) {
    const [id, payout] = [scalarText(event['event_id']), scalarText(event['payout']) ?? ''];
    const place = placeOf.get(id ?? '');
    if (place === undefined || plainDecimal(payout) === undefined) {
      if (id !== undefined && plainDecimal(payout) !== undefined) placeOf.set(id, kept.length);
      kept.push(event);
      continue;
    }
    const known = kept[place] as JsonObject;
    const order = compareDecimals(payout, scalarText(known['payout']) ?? '');
    if (order !== 0) warnings.add('payout_differs_by_target');
    if (order < 0) kept[place] = { ...event, ...known, payout: event['payout'] as JsonValue };
  }
  return kept;
}
