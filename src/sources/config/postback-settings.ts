import { z } from 'zod';
import { readSecret, secretSchema, type Secret } from '../../kit/config/secrets.ts';
import { isNetwork } from '../../kit/config/settings.ts';
import { conversionKinds } from '../../kit/vocabulary/values.ts';

/** What a conversion is reported by; each source may have names of its own for them. */
export const reportedFields = [
  'click_id',
  'transaction_id',
  'event_id',
  'status',
  'payout',
  'currency',
  'occurred_at',
  'reason',
] as const;
export type ReportedField = (typeof reportedFields)[number];

/** What a status comes to: `ignored` is answered and recorded nowhere. */
export const statusMeanings = [...conversionKinds, 'ignored'] as const;
export type StatusMeaning = (typeof statusMeanings)[number];

/** One, or the one that is to come with the one that is to go, which count alike. */
const secrets = z
  .union([secretSchema, z.array(secretSchema).min(1).max(2)], {
    error: 'is a secret or a list of at most two: a text, {"env": "NAME"} or {"file": "/path"}',
  })
  .transform((given) => (Array.isArray(given) ? given : [given]));

const parameter = z.string().min(1).max(100);

const md5Template = z
  .string()
  .max(1000)
  .refine((template) => template.includes('{secret}'), { error: 'has no {secret}: anybody could make its MD5' })
  .refine((template) => !/\{\{|\$\{/.test(template), { error: 'has {{ or ${: write names in single braces' });

const signature = z.discriminatedUnion('scheme', [
  /** As our own postbacks are signed: over all parameters, with `timestamp`. */
  z.strictObject({
    scheme: z.literal('offerline'),
    secret: secrets,
    parameter: parameter.default('signature'),
  }),
  z.strictObject({ scheme: z.literal('standard_webhooks'), secret: secrets }),
  z.strictObject({
    scheme: z.literal('ayet'),
    secret: secrets,
    header: parameter.toLowerCase().default('x-ayetstudios-security-hash'),
  }),
  z.strictObject({
    scheme: z.literal('md5'),
    secret: secrets,
    parameter: parameter.default('signature'),
    /** Names of parameters in braces, and `{secret}`; `{name:whole}` is the number before its point. */
    template: md5Template,
  }),
]);
export type SignatureSettings = z.output<typeof signature>;

/** How a source takes a conversion back where its statuses do not say so; any of these signs is enough. */
const reversal = z
  .strictObject({
    /** Before the transaction's id: what follows it is the id of the conversion that is taken back. */
    id_prefix: z.string().min(1).max(20).optional(),
    /** An amount below zero. */
    negative_payout: z.boolean().default(false),
    /** A word in a parameter, without regard to case. */
    word: z.strictObject({ parameter, values: z.array(z.string().min(1).max(100)).min(1) }).optional(),
    kind: z.enum(['reject', 'chargeback']).default('chargeback'),
  })
  .refine(({ id_prefix, negative_payout, word }) => id_prefix !== undefined || negative_payout || word !== undefined, {
    error: 'says no sign of a reversal: give "id_prefix", "negative_payout": true or "word"',
  });
export type ReversalSettings = z.output<typeof reversal>;

/** As ayeT-Studios documents its chargebacks. */
const ayetReversal: ReversalSettings = { id_prefix: 'r-', negative_payout: true, kind: 'chargeback' };

/** Room for `<source>:~` and a SHA-256 in hex, in the 128 characters that an id may have. */
const longestSourceName = 62;

/** How a source reports conversions to the tracker. */
export const postbackSchema = z
  .strictObject({
    token: secrets.optional(),
    /** Where the token stands when it does not come as `Authorization: Bearer`. */
    token_parameter: parameter.default('token'),
    signature: signature.optional(),
    /** Addresses and networks that it may come from. */
    allow: z
      .array(z.string().refine(isNetwork, { error: 'is not an address or a network such as 10.0.0.0/8' }))
      .min(1)
      .optional(),
    /** The sender's names of our fields. A name with dots is a path into a body of JSON. */
    parameters: z.partialRecord(z.enum(reportedFields), parameter).default({}),
    /** Beside our own words, without regard to case. */
    statuses: z.record(z.string().min(1).max(100), z.enum(statusMeanings)).default({}),
    /** Default: of `ayet` as its documentation says, else none. */
    reversal: reversal.optional(),
    /** A credit whose click is older is refused. */
    click_window_days: z.int().min(1).max(365).default(30),
    /** A credit without `event_id` is refused where the offer has milestones: it would pay for all of them at once. */
    event_required: z.boolean().default(false),
    /** A user is credited once for an offer, or for each of its milestones. */
    once_per_user: z.boolean().default(false),
    /** Refusals of authentic requests are answered with 200 too, for senders that switch an address off. */
    always_200: z.boolean().default(false),
    /** What stands in answers of status 200 in place of our JSON, for senders that look for it. */
    reply: z.string().max(200).optional(),
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
  );
export type PostbackSettings = z.output<typeof postbackSchema>;

/** Undefined where only statuses take a conversion back. */
export function reversalOf({
  reversal: given,
  signature: signed,
}: Pick<PostbackSettings, 'reversal' | 'signature'>): ReversalSettings | undefined {
  return given ?? (signed?.scheme === 'ayet' ? ayetReversal : undefined);
}

/** What is wrong with the name of a source that reports conversions; undefined where nothing is. */
export function reportingNameMistake(source: string): string | undefined {
  if (source.length <= longestSourceName) return undefined;
  return `has more than ${longestSourceName} characters, too many to begin the ids of its conversions`;
}

/** Each as often as two may be valid at once. */
export interface PostbackSecrets {
  tokens: string[];
  /** Keys of its signatures. */
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

/** The files that its secrets are kept in. */
export function secretFiles({ token = [], signature: signed }: PostbackSettings): string[] {
  return [...token, ...(signed?.secret ?? [])].flatMap((secret) =>
    typeof secret === 'object' && 'file' in secret ? [secret.file] : [],
  );
}

/** In a few words, for lists: what guards it. */
export function guardsOf({ token, signature: signed, allow }: PostbackSettings): string {
  const guards = [token && 'token', signed && `signature (${signed.scheme})`, allow && 'addresses'];
  return guards.filter((guard) => guard !== undefined).join(', ');
}
