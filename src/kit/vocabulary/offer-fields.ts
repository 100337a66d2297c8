import { z } from 'zod';
import { publicAddress } from '../text/public-address.ts';
import { devices, formats, paymentTerms, reportCategories, trackingTypes } from './values.ts';

/*
 * The fields of an offer's content, each said once: how landing reads it, how a version keeps it, how the feed has it.
 * From this follow the canonical offer, the rows of `offer_versions`, the feed's schema and what the generator writes.
 * Another field needs a line here, a migration for its column, and its place and comment in the marts `offers` and
 * `offer_history`.
 */

/** Reads fields of a landing record: undefined where one is absent or makes no sense, which draws a warning. */
interface FieldReader {
  freeText(name: string): string | undefined;
  text(name: string, makesSense?: (text: string) => boolean): string | undefined;
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined;
  integer(name: string, lowest: number, highest: number): number | undefined;
  flag(name: string): boolean | undefined;
}

interface OfferField {
  /** Type in a canonical offer and in the feed. */
  schema: z.ZodType;
  /** Type by which it reaches its column of `offer_versions`, which has its own type. */
  column: 'VARCHAR' | 'INTEGER' | 'BOOLEAN' | 'JSON' | readonly ['VARCHAR'];
  /** Reads it from the landing field of the same name; null where landing has its own rules for it. */
  read: ((fields: FieldReader, name: string) => unknown) | null;
  /** True where the feed has it, so that publishers see it. */
  published: boolean;
}

/** A text by language code, in the advertiser's order; a plain text counts as `en`. */
const localizedText = z.record(z.string(), z.string());
export type LocalizedText = z.output<typeof localizedText>;

/** A decimal as plain text, so that no digit passes through binary floating point. */
export const decimalSchema = z.string().regex(/^\d+(\.\d+)?$/);

const maxInteger = 2 ** 31 - 1;

/** A field with reading rules of its own in `landing/catalog/offer-record.ts`. */
function special<Schema extends z.ZodType, const Column extends OfferField['column']>(schema: Schema, column: Column) {
  return { schema, column, read: null, published: true } as const;
}

function choice<const Choices extends readonly string[]>(choices: Choices, otherwise: Choices[number]) {
  const read = (fields: FieldReader, name: string): Choices[number] => fields.choice(name, choices) ?? otherwise;
  return { schema: z.enum(choices), column: 'VARCHAR', read, published: true } as const;
}

/** A text that counts whole, such as an address. */
function nullableText(makesSense?: (text: string) => boolean) {
  const read = (fields: FieldReader, name: string): string | null => fields.text(name, makesSense) ?? null;
  return { schema: z.string().nullable(), column: 'VARCHAR', read, published: true } as const;
}

function nullableFreeText() {
  const read = (fields: FieldReader, name: string): string | null => fields.freeText(name) ?? null;
  return { schema: z.string().nullable(), column: 'VARCHAR', read, published: true } as const;
}

/** A limit by count; null means that there is none. */
function cap() {
  const read = (fields: FieldReader, name: string): number | null => fields.integer(name, 0, maxInteger) ?? null;
  return { schema: z.int().nullable(), column: 'INTEGER', read, published: true } as const;
}

function flag(otherwise: boolean) {
  const read = (fields: FieldReader, name: string): boolean => fields.flag(name) ?? otherwise;
  return { schema: z.boolean(), column: 'BOOLEAN', read, published: true } as const;
}

/** Fields in the order of digests and feed lines: a new field comes last. */
export const offerFields = {
  titles: special(localizedText, 'JSON'),
  /** No language at all where the offer has no description. */
  descriptions: special(localizedText, 'JSON'),
  /** Gross USD as shortest decimal text; of a multireward offer without its own, the sum of its events. */
  payout: special(decimalSchema, 'VARCHAR'),
  /** Stable per content; empty where the offer has no picture. */
  image_name: special(z.string(), 'VARCHAR'),
  /** The advertiser's address of the picture; empty where the offer has none. */
  image_source: special(z.string(), 'VARCHAR'),
  level: {
    schema: z.string(),
    column: 'VARCHAR',
    read: (fields: FieldReader, name: string) => fields.freeText(name) ?? '',
    published: true,
  },
  stars: {
    schema: z.int().min(0).max(5),
    column: 'INTEGER',
    read: (fields: FieldReader, name: string) => fields.integer(name, 0, 5) ?? 0,
    published: true,
  },
  categories: special(z.array(z.string()), ['VARCHAR']),
  /** ISO 3166-1 alpha-2, ascending; empty means worldwide. */
  countries: special(z.array(z.string()), ['VARCHAR']),
  /** Empty means all. */
  devices: special(z.array(z.enum(devices)), ['VARCHAR']),
  payment_term: choice(paymentTerms, 'net30'),
  android_min_os: nullableFreeText(),
  ios_min_os: nullableFreeText(),
  /** The address to which the tracker sends users. */
  destination_url: { ...nullableText(), published: false },
  /** Publishers' pages show it, so nothing but web and app store addresses. */
  preview_url: nullableText(
    (text) => /^(https?|market|itms|itms-apps|itms-appss):\/\//i.test(text) && publicAddress(text) !== undefined,
  ),
  tracking_type: choice(trackingTypes, 'CPA'),
  report_category: choice(reportCategories, 'web'),
  formats: special(z.array(z.enum(formats)), ['VARCHAR']),
  daily_cap: cap(),
  daily_click_cap: cap(),
  multi_complete: flag(false),
  /** ISO 4217 code of the currency that the record's amounts are in. */
  currency: { ...special(z.string(), 'VARCHAR'), published: false },
  /** USD for one unit of it, by `rates`, as decimal text. */
  currency_rate: { ...special(decimalSchema, 'VARCHAR'), published: false },
} as const satisfies Record<string, OfferField>;

type Fields = typeof offerFields;
type OfferFieldName = keyof Fields;
export const offerFieldNames = Object.keys(offerFields) as OfferFieldName[];

/** Fields that a landing record has under another name, in parts, at another place, or not itself. */
const namedOtherwise = ['titles', 'descriptions', 'image_name', 'image_source', 'currency', 'currency_rate'] as const;
type LandingName = Exclude<OfferFieldName, (typeof namedOtherwise)[number]>;

/** Fields that a landing record of an offer may have, in the order in which we write one. */
export const landingFieldNames = [
  'external_id',
  'id',
  'title',
  'description',
  'currency',
  'events',
  'status',
  'image',
  ...offerFieldNames.filter((name): name is LandingName => !(namedOtherwise as readonly string[]).includes(name)),
  'created_at',
  'updated_at',
] as const;
export type LandingFieldName = (typeof landingFieldNames)[number];

/** Content of one offer in a catalog. */
export type OfferContent = { -readonly [Name in OfferFieldName]: z.output<Fields[Name]['schema']> };

/** Fields for which landing has rules of its own. */
export type SpecialFieldName = {
  [Name in OfferFieldName]: Fields[Name]['read'] extends null ? Name : never;
}[OfferFieldName];

/** The column types of all fields, as `from_json` takes them. */
export const offerColumns = Object.fromEntries(offerFieldNames.map((name) => [name, offerFields[name].column])) as {
  [Name in OfferFieldName]: Fields[Name]['column'];
};

/** The schemas of what the feed has. */
export const publishedSchemas = Object.fromEntries(
  offerFieldNames.filter((name) => offerFields[name].published).map((name) => [name, offerFields[name].schema]),
) as {
  [Name in OfferFieldName as Fields[Name]['published'] extends true ? Name : never]: Fields[Name]['schema'];
};

/** Milestones of a multireward offer, in the source's order. Payouts are gross USD as shortest decimal text. */
export const offerEvent = z.strictObject({ event_id: z.string(), descriptions: localizedText, payout: decimalSchema });
export type OfferEvent = z.output<typeof offerEvent>;
