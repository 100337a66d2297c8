import { z } from 'zod';
import type { LandingKind } from '../../kit/vocabulary/values.ts';

function prefixOf(kind: LandingKind) {
  return z
    .string()
    .max(1024)
    .optional()
    .meta({ absent: 'none is taken', description: `Prefix of keys that hold ${kind}; none within another` });
}

/** Connector `s3`: the bucket, and which prefix of its keys holds what. */
export const s3Schema = z
  .strictObject({
    bucket: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/, { error: 'is not the name of a bucket' })
      .describe('Name of the bucket'),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, { error: 'is not a region such as eu-central-1' })
      .default('us-east-1')
      .describe('Region of the bucket'),
    offers: prefixOf('offers'),
    conversions: prefixOf('conversions'),
    clicks: prefixOf('clicks'),
    path_style: z.boolean().optional().meta({
      absent: '`true` with a `base_url`',
      description: 'The bucket is in the path and not in the host name',
    }),
  })
  .superRefine((settings, context) => {
    const prefixes = prefixesOf(settings);
    if (prefixes.length === 0)
      context.addIssue({ code: 'custom', message: 'names no prefix: "offers", "conversions" or "clicks"' });
    for (const { kind, prefix: one } of prefixes)
      for (const { kind: otherKind, prefix: other } of prefixes)
        if (kind !== otherKind && one.startsWith(other))
          context.addIssue({
            code: 'custom',
            path: [kind],
            message: `is within "${otherKind}": an object would be both`,
          });
  });

export type S3Settings = z.output<typeof s3Schema>;

/** Small lists first, so that clicks are what a bounded pull leaves for the next one. */
const kinds = ['offers', 'conversions', 'clicks'] as const satisfies readonly LandingKind[];

/** Returns the prefixes in the order in which they are pulled. */
export function prefixesOf(
  settings: Partial<Record<LandingKind, string | undefined>>,
): { kind: LandingKind; prefix: string }[] {
  return kinds.flatMap((kind) => {
    const prefixOfKind = settings[kind];
    return prefixOfKind === undefined ? [] : [{ kind, prefix: prefixOfKind }];
  });
}

/** Secrets of connector `s3`; without them its client searches where AWS's own tools do. */
const s3Secrets = ['access_key_id', 'secret_access_key', 'session_token'] as const;

/** Returns the mistake in the names of the secrets, if there is one. */
export function s3SecretsMistake(names: readonly string[]): string | undefined {
  const unknown = names.find((name) => !s3Secrets.some((known) => known === name));
  if (unknown !== undefined) return `s3 has no secret ${unknown}: it takes ${s3Secrets.join(', ')}`;
  const isPair = names.includes('access_key_id') && names.includes('secret_access_key');
  return names.length === 0 || isPair ? undefined : 'access_key_id and secret_access_key go together';
}
