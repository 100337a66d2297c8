import { z } from 'zod';
import { secretSchema } from './secrets.ts';

const ambient = 'where AWS’s own tools look';

/** Object storage that speaks S3 and has conditional writes. */
export const storageSchema = z
  .strictObject({
    url: z
      .string()
      .regex(/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?$/, {
        error:
          'is not an address such as s3://bucket/prefix: the bucket’s name has 3 to 63 lower-case letters, digits, dots and hyphens',
      })
      // A machine notes its storage by this address: with a slash at its end it would be another one.
      .overwrite((url) => url.replace(/\/$/, ''))
      .describe('Bucket, and the prefix in it that is ours alone: `s3://bucket/prefix`'),
    endpoint: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({ absent: 'AWS’s own', description: 'Address of the store' }),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, { error: 'is not a region such as eu-central-1' })
      .default('us-east-1')
      .describe('Region of the bucket'),
    access_key_id: secretSchema
      .optional()
      .meta({ absent: ambient, description: 'Id of the key, with `secret_access_key`' }),
    secret_access_key: secretSchema.optional().meta({ absent: ambient, description: 'Secret of the key' }),
    session_token: secretSchema.optional().meta({ absent: 'none', description: 'Token of a key for a short time' }),
    follow: z
      .boolean()
      .default(false)
      .describe('The service on this machine serves what storage has, and the machine writes nothing'),
  })
  .refine((storage) => (storage.access_key_id === undefined) === (storage.secret_access_key === undefined), {
    error: 'access_key_id and secret_access_key go together',
  })
  .meta({
    absent: 'all stays on this machine',
    description:
      '[Object storage](../src/fleet/storage/README.md) that speaks S3 and has conditional writes: snapshots and the state are published there for machines that serve or are on standby',
  });

export type StorageSettings = z.output<typeof storageSchema>;
