import { createHash } from 'node:crypto';
import { z } from 'zod';
import { eachOnce } from '../config/each-once.ts';
import { readDocument } from '../config/json-document.ts';
import { readTextFile } from '../config/regular-file.ts';
import { fallbackUrl } from '../config/tracker-settings.ts';
import { UsageError } from '../errors/errors.ts';
import { objectOf } from './object-of.ts';
import { exactNumber, decimalOfNumber, share } from './exact-number.ts';
import { offerCommissionsSchema } from './offer-commissions.ts';
import { offerRulesSchema } from './offer-rules.ts';
import { postbackFields, postbackMacros, readPostbackAddress } from './postback-address.ts';

/** An address may contain credentials, so its mistake is described without it. */
const postbackUrl = z.string().superRefine((url, context) => {
  const address = readPostbackAddress(url);
  if ('mistake' in address) context.addIssue({ code: 'custom', message: address.mistake });
});

const ownName = z
  .string()
  .regex(/^[A-Za-z_][\w.-]{0,63}$/, { error: 'must be a letter or _, and up to 63 letters, digits, _ . or -' })
  .refine((name) => !(postbackFields as readonly string[]).includes(name), {
    error: `is a signed field's name: a further parameter has a name that is none of ${postbackFields.join(', ')}`,
  });

/** The publisher's own names of further parameters, each with the value that it gets. */
const ownFields = z
  .record(ownName, z.enum(postbackMacros))
  .refine((fields) => Object.keys(fields).length <= 20, { error: 'has more than 20 parameters' });

const postback = objectOf({
  url: postbackUrl.describe(
    'Address that rewards are sent to; by GET it may hold [macros](../src/serve/publishers.md#postbacks-hearing-of-rewards)',
  ),
  method: z
    .enum(['GET', 'POST'])
    .default('GET')
    .describe('Method of the requests; `sites add --postback` writes `POST` unless `--postback-method` names another'),
  fields: ownFields.optional().meta({
    absent: 'none',
    description:
      'Further parameters by the publisher’s own names, such as `{"txn": "conversion_id"}`: [their values](../src/serve/publishers.md#postbacks-hearing-of-rewards)',
  }),
  pending: z.boolean().optional().meta({
    absent: 'they are not sent',
    description:
      '`true`: conversions that are announced are sent, too: event `pending`, with the reward as it would be',
  }),
});

export const siteSchema = objectOf({
  site_key: z.string().min(1).max(128).describe('Public name of the site, in its links and requests'),
  site_secret: z
    .string()
    .min(1)
    .describe('Opens the feeds of variants B and C and signs postbacks; `sites add` makes it of 32 random bytes'),
  previous_site_secret: z.string().min(1).optional().meta({
    absent: 'none',
    description:
      'Secret before `site_secret`, while the publisher changes over: bodies of postbacks are signed with both. `sites rotate` writes it',
  }),
  previous_secret_until: z.iso.datetime({ offset: true }).optional().meta({
    absent: '`previous_site_secret` signs until it is taken out, and opens nothing',
    description: 'Moment until which `previous_site_secret` opens the feeds, too, and signs; RFC 3339',
  }),
  name: z.string().default('').describe('Name for people'),
  status: z
    .enum(['active', 'pending', 'paused'])
    .default('active')
    .describe('A `pending` or `paused` site is refused everywhere; what it has earned is still sent to it'),
  variant: z.enum(['A', 'B', 'C']).default('C').describe('Variant of the interface that it asks'),
  commission: share
    .default(0)
    .meta({ unit: 'share', description: 'Part of the payout that the network keeps; at most 6 places' }),
  commissions: offerCommissionsSchema.optional().meta({
    absent: 'no exception',
    description: 'Offers with another commission; of two entries the one by `offer` counts',
  }),
  offers: offerRulesSchema.optional().meta({
    absent: 'all offers',
    description:
      'Offers that the site may have: its feeds lack the others, and their clicks are refused. `deny` comes before `allow`',
  }),
  reward_rate: exactNumber
    .positive()
    .default(1)
    .meta({ unit: 'points', description: 'Publisher’s points for one USD; at most 6 places' }),
  rate_limit_per_hour: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10)
    .describe('Requests that are answered in any 60 minutes, for each bucket of variants B and C'),
  postback: postback.optional().meta({ absent: 'nothing is sent', description: 'Where rewards are sent' }),
  fallback_url: fallbackUrl
    .optional()
    .meta({ absent: 'the tracker’s own', description: 'Where the tracker sends clicks that it refuses' }),
});

export const sitesSchema = z.object({ sites: z.array(siteSchema).superRefine(eachOnce('site_key')) });

export type Site = z.output<typeof siteSchema>;

/** Shorter secrets draw a warning: they can be guessed. */
const shortestGoodSecret = 16;

export interface Sites {
  sites: Site[];
  /** SHA-256 of the parts that a snapshot takes from the file, by which a run detects a change. Contains no secret. */
  digest: string;
  warnings: string[];
}

/**
 * Reads `sites.json`. A missing file means no sites.
 * Throws `UsageError` naming file and key; never with a secret in the message.
 */
export function readSites(file: string): Sites {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new UsageError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
    }
    return {
      sites: [],
      digest: digestOf([]),
      warnings: [`${file} does not exist: no site can identify itself; \`offerline sites add\` adds the first one`],
    };
  }
  const { sites } = readDocument(sitesSchema, text, file, '; nothing was changed');
  return { sites, digest: digestOf(sites), warnings: warningsAbout(sites) };
}

function warningsAbout(sites: Site[]): string[] {
  const weak = sites
    .filter((site) =>
      [site.site_secret, site.previous_site_secret].some(
        (secret) => secret !== undefined && secret.length < shortestGoodSecret,
      ),
    )
    .map((site) => site.site_key);
  if (weak.length === 0) return [];
  const named = weak.length > 5 ? `${weak.slice(0, 5).join(', ')} and ${weak.length - 5} more` : weak.join(', ');
  return [`secrets of fewer than ${shortestGoodSecret} characters can be guessed: ${named}`];
}

/** Writes the commission as plain decimal text, such as "0.2". */
export function commissionText(site: Pick<Site, 'commission'>): string {
  return decimalOfNumber(site.commission);
}

/** Writes the reward rate as plain decimal text, such as "100" or "0.5". */
export function rewardRateText(site: Pick<Site, 'reward_rate'>): string {
  return decimalOfNumber(site.reward_rate);
}

function digestOf(sites: Site[]): string {
  const published = sites.map(
    ({
      site_secret: _secret,
      previous_site_secret: _previous,
      previous_secret_until: _until,
      fallback_url: _fallback,
      ...site
    }) => site,
  );
  return createHash('sha256').update(JSON.stringify(published)).digest('hex');
}
