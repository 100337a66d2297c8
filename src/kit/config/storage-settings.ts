import { z } from 'zod';
import { secretSchema } from './secrets.ts';

/** Object storage that speaks S3 and has conditional writes. Without the key all stays on this machine. */
export const storageSchema = z
  .strictObject({
    /** The bucket, and the prefix that is ours alone. */
    url: z.string().regex(/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?$/, {
      error: 'is not an address such as s3://bucket/prefix',
    }),
    /** The store's address; AWS's own where not given. */
    endpoint: z.url({ protocol: /^https?$/ }).optional(),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, { error: 'is not a region such as eu-central-1' })
      .default('us-east-1'),
    /** Without them the client looks where AWS's own tools do. */
    access_key_id: secretSchema.optional(),
    secret_access_key: secretSchema.optional(),
    session_token: secretSchema.optional(),
    /** The service here serves what storage has; this machine writes nothing. */
    follow: z.boolean().default(false),
  })
  .refine((storage) => (storage.access_key_id === undefined) === (storage.secret_access_key === undefined), {
    error: 'access_key_id and secret_access_key go together',
  });

export type StorageSettings = z.output<typeof storageSchema>;
