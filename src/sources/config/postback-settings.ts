import { z } from 'zod';
import { readSecret, secretSchema, type Secret } from '../../kit/config/secrets.ts';
import { isNetwork } from '../../kit/config/settings.ts';
import { conversionKinds } from '../../kit/vocabulary/values.ts';
import { placesOfField } from '../../kit/intake/mapping/field-schema.ts';
import { reportedFields, reportFieldsSchema, type ReportedField } from './report-fields.ts';

/** Meanings of a status: an `ignored` report is answered and not recorded. */
const statusMeanings = [...conversionKinds, 'ignored'] as const;
export type StatusMeaning = (typeof statusMeanings)[number];

/** A secret, or two that are both valid while one replaces the other. */
const secrets = z
  .union([secretSchema, z.array(secretSchema).min(1).max(2)], {
    error: 'is a secret or a list of at most two: a text, {"env": "NAME"} or {"file": "/path"}',
  })
  .transform((given) => (Array.isArray(given) ? given : [given]))
  .meta({ takes: 'secret, or list of two' });

const parameter = z.string().min(1).max(100);

const md5Template = z
  .string()
  .max(1000)
  .refine((template) => template.includes('{secret}'), { error: 'has no {secret}: anybody could make its MD5' })
  .refine((template) => !/\{\{|\$\{/.test(template), { error: 'has {{ or ${: write names in single braces' });

const signatureParameter = parameter.default('signature').describe('Parameter that holds it');
const signatureSecret = secrets.describe('Key of the signature');

const signature = z.discriminatedUnion('scheme', [
  // The signature of our own postbacks: over all parameters, with `timestamp`.
  z.strictObject({
    scheme: z.literal('offerline').describe('Scheme of the signature'),
    secret: signatureSecret,
    parameter: signatureParameter,
  }),
  z.strictObject({ scheme: z.literal('standard_webhooks'), secret: signatureSecret }),
  z.strictObject({
    scheme: z.literal('ayet'),
    secret: signatureSecret,
    header: parameter
      .toLowerCase()
      .default('x-ayetstudios-security-hash')
      .describe('Header that holds it, with scheme `ayet`'),
  }),
  z.strictObject({
    scheme: z.literal('md5'),
    secret: signatureSecret,
    parameter: signatureParameter,
    template: md5Template.describe(
      'Text that scheme `md5` digests: names of parameters in braces and `{secret}`; `{name:whole}` is the number before its point',
    ),
  }),
]);
export type SignatureSettings = z.output<typeof signature>;

/** Signs of a reversal beside statuses; any of them is enough. */
const reversal = z
  .strictObject({
    id_prefix: z.string().min(1).max(20).optional().meta({
      absent: 'none',
      description: 'Beginning of a transaction’s id; the rest is the id of the conversion that is taken back',
    }),
    negative_payout: z.boolean().default(false).describe('An amount below zero takes the conversion back'),
    word: z
      .strictObject({
        parameter: parameter.describe('Parameter that holds the word'),
        values: z
          .array(z.string().min(1).max(100))
          .min(1)
          .describe('Words that take the conversion back, without regard to case'),
      })
      .optional()
      .meta({ absent: 'none' }),
    kind: z.enum(['reject', 'chargeback']).default('chargeback').describe('Kind that is recorded'),
  })
  .refine(({ id_prefix, negative_payout, word }) => id_prefix !== undefined || negative_payout || word !== undefined, {
    error: 'says no sign of a reversal: give "id_prefix", "negative_payout": true or "word"',
  });
export type ReversalSettings = z.output<typeof reversal>;

/** Chargebacks as ayeT-Studios documents them. */
const ayetReversal: ReversalSettings = { id_prefix: 'r-', negative_payout: true, kind: 'chargeback' };

/** Room for `<source>:~` and a SHA-256 in hex, in the 128 characters that an id may have. */
const maxSourceName = 62;

/** Settings of a source that reports conversions to the tracker. */
export const postbackSchema = z
  .strictObject({
    token: secrets.optional().meta({
      absent: 'none',
      description: 'Token of the sender, as `Authorization: Bearer` or in `token_parameter`',
    }),
    token_parameter: parameter.default('token').describe('Parameter that holds the token'),
    signature: signature.optional().meta({ absent: 'none', description: 'How reports are signed, by `scheme`' }),
    allow: z
      .array(
        z
          .string()
          .refine(isNetwork, { error: 'is not an address or a network such as 10.0.0.0/8' })
          .meta({ takes: 'addresses and networks such as `10.0.0.0/8`' }),
      )
      .min(1)
      .optional()
      .meta({ absent: 'any', description: 'Addresses that reports may come from' }),
    parameters: z.partialRecord(z.enum(reportedFields), parameter).default({}).meta({
      takes: 'name by field of ours',
      description: 'Sender’s names of our fields. A name with dots is a path into a body of JSON',
    }),
    statuses: z.record(z.string().min(1).max(100), z.enum(statusMeanings)).default({}).meta({
      takes: 'status of ours by word',
      description:
        'Sender’s words beside ours, without regard to case: `credit`, `reject`, `chargeback`, `pending` (announced) or `ignored`; a `pending` that is not named here is ignored',
    }),
    fields: z.union([reportFieldsSchema]).optional().meta({
      absent: '`parameters` and `statuses` say it',
      takes: 'place or rules by field of ours',
      description:
        'Where our fields stand in the parameters, [as in a mapping](../src/kit/intake/mapping/README.md); what is not named here is not read',
    }),
    reversal: reversal.optional().meta({
      absent: 'with signature `ayet` as its documentation says, else none',
      description: 'How a conversion is taken back where its status does not say so; any of the signs is enough',
    }),
    click_window_days: z
      .int()
      .min(1)
      .max(365)
      .default(30)
      .meta({ unit: 'days', description: 'A credit whose click is older is refused' }),
    event_required: z
      .boolean()
      .default(false)
      .describe(
        'A credit without `event_id` is refused where the offer has milestones: it would pay for all of them at once',
      ),
    once_per_user: z
      .boolean()
      .default(false)
      .describe('A user is credited once for an offer, or for each of its milestones'),
    always_200: z
      .boolean()
      .default(false)
      .describe('Refusals of authentic reports are answered with 200 too, for senders that switch an address off'),
    reply: z.string().max(200).optional().meta({
      absent: 'our JSON',
      description: 'Text of answers with status 200, for senders that look for it',
    }),
  })
  .refine(({ token, signature: signed, allow }) => token !== undefined || signed !== undefined || allow !== undefined, {
    error: 'has no guard, so anybody could report conversions: give "token", "signature" or "allow"',
  })
  .refine(
    ({ parameters }) => {
      const names = reportedFields.map((field) => parameters[field] ?? field);
      return new Set(names).size === names.length;
    },
    { path: ['parameters'], error: 'has one name for two fields' },
  )
  .refine(
    ({ fields, parameters, statuses }) =>
      fields === undefined || Object.keys({ ...parameters, ...statuses }).length === 0,
    { path: ['fields'], error: 'says what "parameters" and "statuses" say, too: leave those out' },
  );
export type PostbackSettings = z.output<typeof postbackSchema>;

/** Returns the names of parameters that may hold a field, in the order in which they are looked at. */
export function postbackParametersOf(
  { fields, parameters }: Pick<PostbackSettings, 'fields' | 'parameters'>,
  field: ReportedField,
): readonly string[] {
  if (fields === undefined) return [parameters[field] ?? field];
  const given = fields.fields[field];
  return given === undefined ? [] : placesOfField(given);
}

/** Returns the signs of a reversal; undefined where only statuses reverse a conversion. */
export function reversalOf({
  reversal: given,
  signature: signed,
}: Pick<PostbackSettings, 'reversal' | 'signature'>): ReversalSettings | undefined {
  return given ?? (signed?.scheme === 'ayet' ? ayetReversal : undefined);
}

/** Returns the mistake in the name of a source that reports conversions, if there is one. */
export function reportingNameMistake(source: string): string | undefined {
  if (source.length <= maxSourceName) return undefined;
  return `has more than ${maxSourceName} characters, too many to begin the ids of its conversions`;
}

/** Secrets of a source's reports; two of each may be valid at once. */
export interface PostbackSecrets {
  tokens: string[];
  /** Keys of signatures. */
  keys: string[];
}

/** Throws `UsageError` where one cannot be read. */
export function readPostbackSecrets(
  source: string,
  { token, signature: signed }: PostbackSettings,
  environment: NodeJS.ProcessEnv = process.env,
): PostbackSecrets {
  const read = (name: string, given: readonly Secret[] = []) =>
    given.map((secret) => readSecret(`sources.json: ${source}.postback.${name}`, secret, environment));
  return { tokens: read('token', token), keys: read('signature.secret', signed?.secret) };
}

/** Returns the files that contain its secrets. */
export function secretFiles({ token = [], signature: signed }: PostbackSettings): string[] {
  return [...token, ...(signed?.secret ?? [])].flatMap((secret) =>
    typeof secret === 'object' && 'file' in secret ? [secret.file] : [],
  );
}

/** Lists the guards of its reports in a few words. */
export function guardsOf({ token, signature: signed, allow }: PostbackSettings): string {
  const guards = [token && 'token', signed && `signature (${signed.scheme})`, allow && 'addresses'];
  return guards.filter((guard) => guard !== undefined).join(', ');
}
