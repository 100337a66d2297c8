import { oneOrMore } from '../../kit/intake/mapping/either-form.ts';
import { placeSchema, rowsSchema } from '../../kit/intake/mapping/rows-schema.ts';
import { z } from 'zod';
import { hasPlaceholder, pagingMistake, requestMistake, streamSchema, type Stream } from '../connectors/declaration.ts';
import { conversionFieldsSchema } from '../connectors/declared-conversion.ts';
import { declaredFieldsSchema } from '../connectors/declared.ts';
import { dateFormatMistake, isoDate } from '../http/window-days.ts';

const rows = rowsSchema.optional().meta({
  absent: 'all count',
  takes: 'condition, or list of such',
  description: 'Conditions, such as `{"at": "type", "is": ["lead"]}`, of records that count',
});

const clickIdSchema = z.union(
  [z.strictObject({ parameter: z.string().min(1).max(100) }), z.strictObject({ macro: z.string().min(2).max(100) })],
  { error: 'is neither {"parameter": NAME} nor {"macro": TEXT}' },
);

const warningSchema = z.strictObject({
  as: z
    .string()
    .regex(/^[a-z][a-z_]{0,63}$/, 'is no name of small letters and underlines')
    .describe('Name that it is counted by'),
  each: placeSchema.optional().describe('Place of a list: one of its members has to meet `rows`'),
  rows: rowsSchema.describe('Conditions of records that are counted'),
});

/** Request for the link of an offer that the list has none of. */
const linksSchema = streamSchema.extend({
  of: placeSchema.describe('Place, in an offer’s record, of what its link is asked for by: `{campaign}` in the texts'),
  rows: rowsSchema.optional().describe('Conditions of the answer’s records that may hold the link'),
  at: placeSchema.describe('Place of the link in such a record; the first that has one counts'),
});
export type LinksDeclaration = z.output<typeof linksSchema>;

/** The list of offers of a network that `sources.json` declares. */
export const offersSchema = streamSchema.extend({
  full: z
    .boolean()
    .default(true)
    .describe('A whole pull has all offers; `false` goes with `"mode": "delta"` in `offerline.json`'),
  click_id: clickIdSchema.optional().meta({
    absent: 'the links are as the network gives them',
    takes: '`{"parameter": NAME}` or `{"macro": TEXT}`',
    description:
      'Where its links take our click id: a parameter of the query, added or replaced, or a text in its place',
  }),
  links: z.union([linksSchema]).optional().meta({
    absent: 'the list has them',
    takes: '`of`, `rows`, `at`, and keys of a request',
    description: 'Request for the link of an offer, by the value at `of` in its record; each is asked for once a week',
  }),
  rows,
  non_incentive: oneOrMore(placeSchema).optional().meta({
    absent: 'none',
    takes: 'place, or list',
    description:
      'Texts of an offer that may forbid to pay users for it, such as title and description: one that does is left out as `forbids_incentives`, unless the source keeps `non_incentive`',
  }),
  warnings: oneOrMore(warningSchema).optional().meta({
    absent: 'none',
    takes: '`{"as": NAME, "rows": …}`, or list of such',
    description:
      'Records that lose something, counted by `as` in the pull’s warnings: those that `rows` hold for or, with `each`, one of whose members there they hold for',
  }),
  fields: declaredFieldsSchema.meta({
    takes: 'place or rules by field of ours',
    description: 'Where landing’s fields stand in a record, [as in a mapping](../src/kit/intake/mapping/README.md)',
  }),
});

/** The list of conversions of a network that `sources.json` declares. */
export const conversionsSchema = streamSchema.extend({
  window_days: z
    .int()
    .min(1)
    .max(366)
    .default(31)
    .meta({ unit: 'days', description: 'Days that are asked for at once, `{from}` to `{to}` in the texts' }),
  date_format: z
    .string()
    .max(100)
    .superRefine((format, context) => {
      const mistake = dateFormatMistake(format);
      if (mistake !== undefined) context.addIssue({ code: 'custom', message: `"${format}" ${mistake}` });
    })
    .default(isoDate)
    .meta({
      takes: 'pattern, `epoch_s` or `epoch_ms`',
      description: 'How `{from}` and `{to}` are written; with a time they are the first and the last second, UTC',
    }),
  rows,
  corrections: z
    .union([
      z.strictObject({
        of: placeSchema.describe('Place of an id that a conversion and its corrections share'),
        rows: rowsSchema.describe('Conditions of records that correct another'),
      }),
    ])
    .optional()
    .meta({
      absent: 'a record says all of its conversion',
      takes: '`{"of": PLACE, "rows": …}`',
      description:
        'Corrections that are records of their own: their amounts are added to that of the conversion, which is rejected where nothing is left',
    }),
  // A union, so that the page of settings takes the fields for one setting.
  fields: z.union([conversionFieldsSchema]).meta({
    takes: 'place or rules by field of ours',
    description:
      'Where fields of a conversion stand in a record, [as in a mapping](../src/kit/intake/mapping/README.md)',
  }),
});

interface Declaring {
  secrets: Readonly<Record<string, unknown>>;
  connector?: string | undefined;
  offers?: z.output<typeof offersSchema> | undefined;
  conversions?: z.output<typeof conversionsSchema> | undefined;
}

/** Lists what contradicts itself in a source's declarations. */
export function* declarationMistakes(source: Declaring): Generator<{ path: string[]; message: string }> {
  const isDeclared = source.connector === 'http';
  if (isDeclared && source.offers === undefined && source.conversions === undefined)
    yield { path: ['offers'], message: 'is missing: how the list is asked for; or "conversions"' };
  for (const kind of ['offers', 'conversions'] as const) {
    const list = source[kind];
    if (list === undefined) continue;
    if (!isDeclared) yield { path: [kind], message: 'goes with "connector": "http" only' };
    const secrets = Object.keys(source.secrets);
    const ofToken = ({ token }: Pick<Stream, 'token'>) =>
      token && requestMistake({ method: 'POST', ...token }, secrets);
    const mistakes = [
      { below: ['paging'], mistake: pagingMistake(list) },
      { below: [], mistake: requestMistake(list, secrets) },
      { below: ['token'], mistake: ofToken(list) },
    ];
    const links = kind === 'offers' ? source.offers?.links : undefined;
    if (links !== undefined) {
      mistakes.push(
        { below: ['links'], mistake: pagingMistake(links) ?? requestMistake(links, secrets) },
        { below: ['links', 'token'], mistake: ofToken(links) },
      );
      if (!hasPlaceholder(links, 'campaign'))
        yield {
          path: [kind, 'links'],
          message: 'ask for the same link each time: write {campaign} into "query" or "path"',
        };
    }
    for (const { below, mistake } of mistakes)
      if (mistake !== undefined) yield { path: [kind, ...below, mistake.key], message: mistake.message };
    if (list.format.type !== 'json' && list.records.split('.').includes('*'))
      yield { path: [kind, 'records'], message: '"*" goes through lists of JSON only' };
  }
}
