import { z } from 'zod';
import { readDocument } from '../../../kit/config/json-document.ts';
import { readTextFile } from '../../../kit/config/regular-file.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { formatSchema } from '../../../kit/intake/mapping/format-schema.ts';
import { fieldsSchema } from '../../../kit/intake/mapping/mapping-schema.ts';
import { rowsSchema } from '../../../kit/intake/mapping/rows-schema.ts';

/** What a reward has become, as far as the publisher knows. */
const claimedStates = ['credited', 'pending', 'rejected', 'charged_back'] as const;
export type ClaimedState = (typeof claimedStates)[number];

/** Fields of a publisher's list. */
export const listFields = ['click_id', 'conversion_id', 'reward', 'state', 'time'] as const;
export type ListField = (typeof listFields)[number];

/** A mapping of landing files, without `match` and with the fields of a list. One not named is found by its column. */
const listMappingSchema = z.strictObject({
  format: formatSchema.default({}),
  rows: rowsSchema.optional(),
  fields: fieldsSchema('conversions', {
    names: listFields,
    required: [],
    lists: [],
    words: { state: claimedStates },
  }).optional(),
});
export type ListMapping = z.output<typeof listMappingSchema>;

/** A list that is read by what it shows itself. */
export const noListMapping: ListMapping = listMappingSchema.parse({});

/** Reads a mapping for a publisher's list. Throws `UsageError` naming the file and the key. */
export function readListMapping(file: string): ListMapping {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return parseListMapping(text, file);
}

/** Parses a mapping for a publisher's list. Throws `UsageError` naming `place` and the key. */
export function parseListMapping(text: string, place: string): ListMapping {
  return readDocument(listMappingSchema, text, place);
}
