import { statSync } from 'node:fs';
import { z } from 'zod';
import { UsageError } from '../../kit/errors/errors.ts';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { eachOnce } from '../../kit/config/each-once.ts';
import { readDocument } from '../../kit/config/json-document.ts';
import { readTextFile } from '../../kit/config/regular-file.ts';
import { isCurrencyCode } from '../../kit/config/settings.ts';
import { isTimeZone, noTimeZone } from '../../kit/time/zone.ts';
import { connectorNamed, connectorNames } from '../connectors/connectors.ts';
import { listsOfNetwork } from '../connectors/declared-networks.ts';
import { networkAddress } from '../connectors/declaration.ts';
import { offersSchema, conversionsSchema, declarationMistakes } from './declared-lists.ts';
import { postbackSchema, reportingNameMistake } from './postback-settings.ts';
import { s3Schema, s3SecretsMistake } from './s3-settings.ts';
import { secretSchema } from '../../kit/config/secrets.ts';

const name = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const pulledKind = z.enum(['offers', 'conversions']);

const sourceSchema = z
  .strictObject({
    source: z
      .string()
      .regex(name, { error: 'is not a name of up to 64 letters, digits, dots, lines or underlines' })
      .describe('Name of the source, and of its folder in `landing/offers`'),
    connector: z.enum(connectorNames).optional().meta({
      absent: 'nothing is pulled',
      description:
        '[Network](../src/sources/README.md#sourcesjson) that is pulled; `http` one that is declared here, `s3` a bucket',
    }),
    base_url: networkAddress.optional().meta({
      absent: 'the network’s default',
      description: 'Address of the network, where each customer has one or it is not the default; of `s3` the store’s',
    }),
    secrets: z
      .record(z.string().regex(/^\w+$/, 'is not a name of letters, digits and underlines'), secretSchema)
      .default({})
      .describe('Secrets by name; each connector has [names of its own](../src/sources/README.md#sourcesjson)'),
    every: z.string().optional().meta({
      takes: 'cron expression, UTC',
      absent: 'each run of `schedule.pull`',
      description: 'When it is pulled',
    }),
    currency: z.string().refine(isCurrencyCode, { error: 'is not an ISO 4217 code such as EUR' }).optional().meta({
      takes: 'ISO 4217 code',
      absent: '`USD`',
      description:
        'Currency of amounts that come without one or with a sign alone; others than USD need a rate in `offerline.json`',
    }),
    time_zone: z.string().refine(isTimeZone, { error: noTimeZone }).optional().meta({
      takes: 'IANA name, or offset such as `+02:00`',
      absent: 'such times are rejected',
      description: 'Zone of the network’s times without an offset',
    }),
    pull: z.array(pulledKind).optional().meta({
      absent: 'both; with `postback` offers alone',
      description: 'Lists that are pulled, where the network has them',
    }),
    reversal_days: z.int().min(1).max(365).default(60).meta({
      unit: 'days',
      description: 'How long conversions are asked for again, since a network may reverse them',
    }),
    keep: z
      .array(z.enum(['non_incentive']))
      .default([])
      .describe('Offers that are kept although the network says that they forbid incentives'),
    offers: offersSchema
      .optional()
      .meta({ absent: 'none', description: 'With connector `http`: how the list of offers is asked for' }),
    conversions: conversionsSchema
      .optional()
      .meta({ absent: 'none', description: 'With connector `http`: how the list of conversions is asked for' }),
    s3: s3Schema.optional().meta({ absent: 'none', description: 'With connector `s3`: the bucket' }),
    postback: postbackSchema.optional().meta({
      absent: 'it reports none',
      description:
        'How it [reports conversions](../src/sources/README.md#conversions-that-are-reported) to the tracker',
    }),
  })
  .transform(({ pull, ...source }, context) => {
    const lists = pulledKind.options.filter((kind) => listOf(source, kind) !== undefined);
    // Each of its pulls would be whole, and bring nothing.
    if (pull !== undefined && lists.length > 0 && !lists.some((kind) => pull.includes(kind)))
      context.addIssue({
        code: 'custom',
        path: ['pull'],
        message: `names no list of "connector": "${source.connector}", which has ${lists.join(' and ')}`,
      });
    // A list that is declared is meant to be pulled, and not beside reports.
    const conversions = source.postback === undefined || source.conversions !== undefined;
    return { ...source, pull: pull ?? pulledKind.options.filter((kind) => kind === 'offers' || conversions) };
  })
  .superRefine((source, context) => {
    const connector = connectorNamed(source.connector);
    for (const { path, message } of declarationMistakes(source)) context.addIssue({ code: 'custom', path, message });
    if ((source.connector === 's3') !== (source.s3 !== undefined))
      context.addIssue({ code: 'custom', path: ['s3'], message: 'and "connector": "s3" go together' });
    if (source.connector === 's3') {
      const mistake = s3SecretsMistake(Object.keys(source.secrets));
      if (mistake !== undefined) context.addIssue({ code: 'custom', path: ['secrets'], message: mistake });
    } else if (connector !== undefined && source.base_url === undefined && connector.baseUrl === undefined)
      context.addIssue({ code: 'custom', path: ['base_url'], message: 'is missing: each network has its own' });
    const nameMistake = source.postback === undefined ? undefined : reportingNameMistake(source.source);
    if (nameMistake !== undefined) context.addIssue({ code: 'custom', path: ['source'], message: nameMistake });
    if (
      source.postback !== undefined &&
      source.pull.includes('conversions') &&
      listOf(source, 'conversions') !== undefined
    )
      context.addIssue({ code: 'custom', path: ['postback'], message: countedTwice(source) });
    for (const secret of connector?.secrets ?? [])
      if (source.secrets[secret] === undefined)
        context.addIssue({ code: 'custom', path: ['secrets', secret], message: 'is missing' });
  })
  // From here on a network of a file is one that its source declares.
  .transform((source) => ({ ...source, ...listsOfNetwork(source.connector) }));

export const sourcesSchema = z.strictObject({ sources: z.array(sourceSchema).superRefine(eachOnce('source')) });

/** An entry of `sources.json`. Its secrets may be references; `readSecret` follows them. */
export type SourceEntry = z.output<typeof sourceSchema>;

export interface Sources {
  sources: SourceEntry[];
  warnings: string[];
}

/**
 * Reads `sources.json`; a missing file means that nothing is pulled. Throws `UsageError` naming file and key, never
 * with a value of it.
 */
export function readSources({ sourcesFile }: DataDirectory): Sources {
  let text: string;
  try {
    text = readTextFile(sourcesFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { sources: [], warnings: [] };
    throw new UsageError(`${sourcesFile} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const { sources } = readDocument(sourcesSchema, text, sourcesFile, '; nothing was changed');
  const exposure = sourcesExposure(sourcesFile);
  return {
    sources,
    warnings: exposure === undefined ? [] : [`${sourcesFile} ${exposure.problem}: ${exposure.cure}`],
  };
}

/**
 * Finds that others than its owner may read the file. One of another owner this user reads by the rights of its group,
 * which were given on purpose, as those of a mounted Secret of Kubernetes, whose mode nobody can change.
 */
export function sourcesExposure(sourcesFile: string): { problem: string; cure: string } | undefined {
  const { mode = 0, uid } = statSync(sourcesFile, { throwIfNoEntry: false }) ?? {};
  const isOwn = uid === process.getuid?.();
  if ((mode & (isOwn ? 0o077 : 0o007)) === 0) return undefined;
  return { problem: 'can be read by others than its owner', cure: `chmod ${isOwn ? 600 : 640} ${sourcesFile}` };
}

/** Returns a list of a source, as it declares it or its network has it; undefined where there is none. */
function listOf(
  { connector, ...declared }: Pick<SourceEntry, 'connector' | 'offers' | 'conversions'>,
  kind: SourceEntry['pull'][number],
): unknown {
  return declared[kind] ?? listsOfNetwork(connector)[kind] ?? connectorNamed(connector)?.[kind];
}

/** A network's list and its reports have different ids, so each conversion would count twice. */
function countedTwice({ connector, pull }: Pick<SourceEntry, 'connector' | 'pull'>): string {
  const remedy = pull.includes('offers') ? 'leave "conversions" or "postback" out' : 'leave one of them out';
  return `reports what "pull" has of "connector": "${connector}", too, and each conversion would count twice: ${remedy}`;
}

/** Returns the sources that are pulled; the others only report conversions. */
export function pulledSources(sources: readonly SourceEntry[]): SourceEntry[] {
  return sources.filter(({ connector }) => connector !== undefined);
}
