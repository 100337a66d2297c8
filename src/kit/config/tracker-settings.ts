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

/** What a destination may be told of a person, where the source's settings say so. */
export const personalValues = ['user_id', 'ip', 'user_agent', 'gaid', 'idfa'] as const;
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
  /** The parameter by which the click's id is added to destinations that have no place for it. */
  append_click_id: z.string().min(1).max(100).optional(),
  /** Other names for macros in its destinations, each with our macro that fills it. */
  macros: z.record(z.string().regex(/^\w+$/), z.enum(destinationMacros)).default({}),
  /** What this advertiser may be told of the person, where its destinations ask for it. */
  pass: z.array(z.enum(personalValues)).default([]),
});

/** The tracker: links that lead to offers, and conversions that advertisers report. */
export const trackerSchema = z
  .strictObject({
    host: z.string().default('127.0.0.1'),
    port: z.int().min(1).max(65535).default(8082),
    /**
     * What a click or conversion outlives once it is answered: `power`, the loss of power; `process`, the end of the
     * process, with the disk a second behind.
     */
    durability: z.enum(['power', 'process']).default('power'),
    /** A log is handed to landing when it is so old, a refresh after that takes it in. */
    hand_over_seconds: z.number().min(0.5).max(60).default(45),
    /** Where clicks go that are refused for a gone offer, targeting, too many, or a cap. */
    fallback_url: fallbackUrl.optional(),
    /** A file in MaxMind's format (MMDB) that tells an address's country. Without one no country is known. */
    country_database: z.string().min(1).optional(),
    /** What is kept of a click's address: all, its network (/24, IPv6 /48), or nothing. */
    ip: z.enum(['full', 'truncated', 'none']).default('truncated'),
    /** By source of offers. */
    sources: z.record(z.string(), source).default({}),
  })
  .prefault({});

export type TrackerSettings = z.output<typeof trackerSchema>;
