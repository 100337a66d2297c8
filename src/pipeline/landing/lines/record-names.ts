import { placesOfMapping } from '../../../kit/intake/mapping/absent-columns.ts';
import { placesOfField, withElse } from '../../../kit/intake/mapping/field-schema.ts';
import { keysAbove } from '../../../kit/intake/mapping/places.ts';
import type { FileMapping } from '../../../kit/intake/mapping/mapping-schema.ts';
import { plainName } from '../../../kit/intake/reading/header-names.ts';
import { noNames, type RecordNames } from '../../../kit/intake/reading/json-shape.ts';
import { landingFieldNames } from '../../../kit/vocabulary/offer-fields.ts';
import type { LandingKind } from '../../../kit/vocabulary/values.ts';
import { clickSchema, conversionSchema, type LogSchema } from '../logs/log-fields.ts';

/** Columns without which a catalog with a header is none. */
export const requiredOfferFields = ['external_id', 'title'] as const;

function namesOfLog({ fields, key, required }: LogSchema): RecordNames {
  return { ids: key.slice(0, 1), required, fields: fields.map(({ name }) => name) };
}

/** The moment matters to values only. */
const reading = { wallClock: '' };
const names: Record<LandingKind, RecordNames> = {
  offers: { ids: ['external_id'], required: requiredOfferFields, fields: landingFieldNames },
  clicks: namesOfLog(clickSchema(reading)),
  conversions: namesOfLog(conversionSchema(reading)),
};

/** Names by which the canonical records of a kind are recognized. */
export function recordNamesOf(kind: LandingKind): RecordNames {
  return names[kind];
}

/**
 * Names by which records that a mapping reads are recognized: it finds our fields under the names that they have, which
 * a header may spell differently, too.
 */
export function recordNamesBy(mapping: Pick<FileMapping, 'kind' | 'fields' | 'rows'>): RecordNames {
  const { kind, fields } = mapping;
  const read = placesOfMapping(mapping);
  if (fields === undefined) {
    const ours = names[kind].fields.map(plainName);
    return {
      ...names[kind],
      fields: [...names[kind].fields, ...read.filter((place) => !ours.includes(plainName(place)))],
    };
  }
  const places = names[kind].ids.flatMap((id) => {
    const field = fields.fields[id];
    return field === undefined ? [] : placesOfField(field);
  });
  const rules = Object.values(fields.fields).flatMap(withElse);
  const lists = [...rules, fields.events].flatMap((rule) => rule?.each ?? []);
  return {
    ...noNames,
    fields: read,
    exactFirst: true,
    mapped: places.flatMap(keysAbove),
    lists: lists.flatMap(keysAbove),
  };
}
