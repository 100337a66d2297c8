import { z } from 'zod';
import { withPlainMacros } from '../text/macros.ts';

function isFallbackMacro(name: string): boolean {
  return name === 'reason' || name === 'offer_id';
}

/**
 * An address of ours, in which `{reason}` and `{offer_id}` are filled and nothing else. As a header takes it: letters
 * beyond ASCII are encoded.
 */
export const fallbackUrl = z
  .url({ protocol: /^https?$/, error: 'is not an http or https address' })
  .transform((url) => withPlainMacros(url, isFallbackMacro))
  .refine((url) => !/\{(?!(?:reason|offer_id)\})\w*\}/.test(url), {
    error: 'has a macro that is none of {reason} {offer_id}: write one of these, or no braces',
  })
  .transform((url) => new URL(url).href.replaceAll(/%7B(reason|offer_id)%7D/g, '{$1}'));

/** Values about a person that a destination may be given, where the source's settings allow it. */
const personalValues = ['user_id', 'ip', 'user_agent', 'gaid', 'idfa'] as const;
export type PersonalValue = (typeof personalValues)[number];

/** Macros of destinations: each is replaced by that value of the click. */
export const destinationMacros = [
  'click_id',
  'offer_id',
  'external_id',
  'source',
  'site_key',
  'user_hash',
  'sub1',
  'sub2',
  'country',
  'device',
  'os',
  'os_version',
  'timestamp',
  'random',
  ...personalValues,
] as const;
export type DestinationMacro = (typeof destinationMacros)[number];

const source = z.strictObject({
  append_click_id: z.string().min(1).max(100).optional().meta({
    absent: 'such destinations get no click id',
    description: 'Parameter that adds the click’s id to destinations that have no place for it',
  }),
  macros: z
    .record(z.string().regex(/^\w+$/, 'is not a name of letters, digits and underlines'), z.enum(destinationMacros))
    .default({})
    .meta({
      takes: 'macro of ours by name',
      description: 'Our macro for each name that its destinations use, such as `{"cid": "click_id"}`',
    }),
  pass: z
    .array(z.enum(personalValues))
    .default([])
    .describe('Values about a person that its destinations may be given'),
});

/** The tracker: links that lead to offers, and conversions that advertisers report. */
export const trackerSchema = z
  .strictObject({
    host: z.string().default('127.0.0.1').describe('Address that the tracker listens on'),
    port: z.int().min(1).max(65535).default(8082).describe('Port that the tracker listens on'),
    durability: z
      .enum(['power', 'process'])
      .default('power')
      .describe(
        'Loss that an answered click or conversion outlives: `power`, of power, since the row is on the disk; `process`, of the process, with the disk a second behind',
      ),
    hand_over_seconds: z
      .number()
      .min(0.5)
      .max(60)
      .default(45)
      .meta({ unit: 's', description: 'Age at which a log is handed to landing; the refresh after that takes it in' }),
    fallback_url: fallbackUrl.optional().meta({
      absent: 'the refusal is answered',
      description:
        'Where clicks go that are refused for a gone offer, targeting, a flood or a cap, with `{reason}` and `{offer_id}` filled; a site’s own comes first',
    }),
    country_database: z.string().min(1).optional().meta({
      takes: 'path',
      absent: 'no country is known, and every click passes',
      description: 'File in MaxMind’s format (MMDB) that gives an address’s country; followed when it is replaced',
    }),
    ip: z
      .enum(['full', 'truncated', 'none'])
      .default('truncated')
      .describe('Part of a click’s address that is kept: all of it, its network (/24, IPv6 /48), or nothing'),
    sources: z.record(z.string(), source).default({}),
  })
  .prefault({});

export type TrackerSettings = z.output<typeof trackerSchema>;
