import { isIP } from 'node:net';
import { z } from 'zod';
import { UsageError } from '../errors/errors.ts';
import { isTimeZone, noTimeZone } from '../time/zone.ts';
import { fileMappingSchema } from '../intake/mapping/mapping-schema.ts';
import { consoleSchema } from './console-settings.ts';
import { engineSchema } from './engine-settings.ts';
import { scheduleSchema } from './schedule-settings.ts';
import type { DataDirectory } from './data-directory.ts';
import { readDocument } from './json-document.ts';
import { readTextFile } from './regular-file.ts';
import { storageSchema } from './storage-settings.ts';
import { secretSchema } from './secrets.ts';
import { trackerSchema } from './tracker-settings.ts';

const timeZone = z
  .string()
  .refine(isTimeZone, { error: noTimeZone })
  .meta({ takes: 'IANA name, or offset such as `+02:00`' });

const source = z.strictObject({
  mode: z
    .enum(['full', 'delta'])
    .default('full')
    .describe(
      '`full`: each file is the whole catalog, and offers that it lacks are removed; `delta`: files only add and change',
    ),
  time_zone: timeZone.optional().meta({
    absent: 'such rows are rejected',
    description: 'Zone of timestamps that the source writes without an offset',
  }),
});

function logSchema(kind: string) {
  return z.strictObject({
    time_zone: timeZone.optional().meta({
      absent: 'such rows are rejected',
      description: `Zone of timestamps that logs of ${kind} write without an offset`,
    }),
  });
}

/** An address with a password, or where it is kept. The error does not repeat the text. */
const postgresAddress = secretSchema.refine(
  (address) => typeof address !== 'string' || /^postgres(ql)?:\/\//.test(address),
  { error: 'is not an address that begins with postgres://' },
);

const nothingIsStale = 'nothing is stale';

/**
 * `offerline.json`. Every key has a default, so the file itself is optional. `data/settings.md` is made of this: what a
 * description leaves out is written nowhere else.
 */
export const settingsSchema = z.strictObject({
  host: z.string().default('127.0.0.1').describe('Address that the service listens on'),
  port: z.int().min(0).max(65535).default(8080).describe('Port that the service listens on; 0 is any free one'),
  public_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ absent: 'the listening address', description: 'Publishers’ address of the service, in links to pictures' }),
  tracking_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      absent: 'where the tracker that was started last listens',
      description:
        'Users’ address of the tracker, in tracking links; without it a tracker that has moved is followed with the next snapshot',
    }),
  trusted_proxies: z
    .array(
      z
        .string()
        .refine(isNetwork, { error: 'is not an address or a network such as 10.0.0.0/8' })
        .meta({ takes: 'addresses and networks such as `10.0.0.0/8`' }),
    )
    .default([])
    .describe(
      'Proxies before the service, the tracker and the console. Only their `X-Forwarded-For` names a client’s address; others could make it up',
    ),
  console: consoleSchema.prefault({}),
  metrics: z
    .strictObject({
      host: z.string().min(1).default('127.0.0.1').describe('Address at which `offerline schedule` answers `/metrics`'),
      port: z.int().min(0).max(65535).optional().meta({
        absent: 'it does not answer',
        description:
          'Port of that, such as 9464. Everything else has `/metrics` where it listens; `start` has the schedule’s with the service’s',
      }),
    })
    .prefault({}),
  pictures: z
    .boolean()
    .default(false)
    .describe(
      'Offers’ pictures are [mirrored](../src/pictures/README.md) and served from here; otherwise clients are sent to the advertisers',
    ),
  hide_capped_offers: z
    .boolean()
    .default(false)
    .describe(
      'An offer that has reached `daily_cap` or `daily_click_cap` leaves the feeds, and returns with the first run of the next UTC day',
    ),
  default_variant: z
    .enum(['B', 'C'])
    .default('C')
    .describe('Variant that the bare `/api/v1/offers` answers in where no site is identified'),
  sources: z.record(z.string(), source).default({}),
  logs: z
    .strictObject({ clicks: logSchema('clicks').default({}), conversions: logSchema('conversions').default({}) })
    .default({ clicks: {}, conversions: {} }),
  files: z
    .array(fileMappingSchema)
    .prefault([])
    .describe(
      'How files of others are read whose records are not ours: [mappings](../src/kit/intake/mapping/README.md), of which the first that matches a file counts',
    ),
  rates: z
    .record(
      z.string().refine(isCurrencyCode, 'is not an ISO 4217 code such as EUR'),
      z.string().regex(/^(?=.*[1-9])\d{1,9}(\.\d{1,9})?$/, 'is not a plain decimal above 0 in quotes such as "1.08"'),
    )
    .default({})
    .meta({
      takes: 'decimal text by ISO 4217 code',
      unit: 'USD',
      description: 'Price of one unit of a currency, such as `{"EUR": "1.08"}`; text, so that no digit is lost',
    }),
  schedule: scheduleSchema,
  retention: z
    .strictObject({
      events: z.int().min(2).max(36_500).optional().meta({
        unit: 'days',
        absent: 'all is kept',
        description: 'Older clicks lose `ip`, `user_agent`, `sub1` and `sub2`; everything that counts stays',
      }),
      runs: z
        .int()
        .min(1)
        .max(36_500)
        .optional()
        .meta({ unit: 'days', absent: 'all is kept', description: 'Older runs leave the run ledger' }),
      attempts: z.int().min(7).max(36_500).optional().meta({
        unit: 'days',
        absent: 'all is kept',
        description: 'Older attempts at delivering postbacks are deleted; a postback is tried for fewer days',
      }),
    })
    .default({}),
  freshness: z
    .strictObject({
      clicks_minutes: z
        .number()
        .positive()
        .optional()
        .meta({ unit: 'min', absent: nothingIsStale, description: '`status` exits 1 where the newest click is older' }),
      conversions_minutes: z.number().positive().optional().meta({
        unit: 'min',
        absent: nothingIsStale,
        description: '`status` exits 1 where the newest conversion is older',
      }),
      offers_minutes: z.number().positive().optional().meta({
        unit: 'min',
        absent: nothingIsStale,
        description: '`status` exits 1 where the newest catalog is older',
      }),
      pulls_minutes: z.number().positive().optional().meta({
        unit: 'min',
        absent: nothingIsStale,
        description: '`status` exits 1 where the last whole pull of a source is older, by this machine’s clock',
      }),
      postbacks_minutes: z.number().positive().optional().meta({
        unit: 'min',
        absent: '`60`',
        description: '`status` exits 1 where a site has taken no postback for longer while some fail',
      }),
    })
    .default({}),
  unpacked_gigabytes: z.number().positive().default(10).meta({
    unit: '10⁹ bytes',
    description:
      'A packed landing file that unpacks to more is quarantined, and so are JSON documents and Parquet files whose records take more',
  }),
  snapshots_kept: z
    .int()
    .min(1)
    .max(1000)
    .default(5)
    .describe('Published snapshots that stay on disk, the current one included'),
  snapshots_kept_hours: z.int().min(0).max(8784).default(24).meta({
    unit: 'h',
    description:
      'The newest snapshot of each hour stays for so long, too, so that links of the console to one last; 0: none',
  }),
  snapshot_max_age_minutes: z.number().positive().optional().meta({
    unit: 'min',
    absent: 'no age is too old',
    description: '`/readyz` answers 503 and `status` exits 1 where the served snapshot is older',
  }),
  lock_wait_seconds: z.number().min(0).max(3600).default(60).meta({
    unit: 's',
    description:
      'How long a run waits for another run, and a service for another service, before it exits 3; maintenance of the schedule waits half an hour',
  }),
  engine: engineSchema,
  storage: storageSchema.optional(),
  limits: z
    .strictObject({
      redis: secretSchema
        .refine((redis) => typeof redis !== 'string' || isRedisAddress(redis), {
          error: 'is not an address such as redis://host:6379/0; a % in it is written %25',
        })
        .describe('Address such as `redis://host:6379/0`, or `rediss://…` over TLS'),
      servers: z
        .int()
        .min(1)
        .max(1000)
        .default(1)
        .describe('Services that share the limits. While Redis is away each allows its part'),
    })
    .optional()
    .meta({
      absent: 'each service counts its own requests',
      description: 'Rate limits over [several services](../src/fleet/shared-limits/README.md), counted in Redis',
    }),
  postbacks: z
    .strictObject({
      store: postgresAddress.optional().meta({
        absent: 'SQLite on this machine',
        description:
          'PostgreSQL that [several machines deliver from](../src/postbacks/README.md), such as `postgres://user:password@host/database`',
      }),
    })
    .default({}),
  tracker: trackerSchema,
  duckdb: z
    .strictObject({
      memory_limit: z
        .string()
        .regex(/^\d+(\.\d+)?\s?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)$/, 'is not an amount such as "4GB" or "512MiB"')
        .optional()
        .meta({
          takes: 'amount such as `"4GB"`',
          absent: 'half of the memory that the process may use',
          description: 'Memory that DuckDB’s buffers may use',
        }),
      threads: z.int().min(1).max(256).optional().meta({
        absent: 'all processors; one while a run has little to read',
        description: 'Threads of DuckDB',
      }),
    })
    .default({}),
});

export type Settings = z.output<typeof settingsSchema>;
/** One entry of `schedule`. */
export type Plan = NonNullable<Settings['schedule']['refresh' | 'postbacks' | 'pull']>;

export const defaultSettings: Settings = settingsSchema.parse({});

/** Reads `offerline.json`; a missing file means all defaults. Throws `UsageError` naming file and key. */
export function readSettings(data: DataDirectory): Settings {
  const text = readSettingsText(data);
  return text === undefined ? defaultSettings : parseSettings(text, data.settingsFile);
}

/** Returns the text of `offerline.json`, undefined where there is none. Throws `UsageError` where it cannot be read. */
export function readSettingsText({ settingsFile }: DataDirectory): string | undefined {
  try {
    return readTextFile(settingsFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${settingsFile} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

export function parseSettings(text: string, file: string): Settings {
  return readDocument(settingsSchema, text, file);
}

/** True for an address or, with the bits of its prefix, a network. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  return (
    isIP(address) !== 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  );
}

/** True for a text that may be a currency in `rates`. */
export function isCurrencyCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text);
}

/** True for the address of a Redis: `redis://` or `rediss://`, with or without the number of a database. */
export function isRedisAddress(text: string): boolean {
  try {
    const { protocol, username, password, hostname, pathname } = new URL(text);
    for (const part of [username, password]) decodeURIComponent(part);
    return /^rediss?:$/.test(protocol) && hostname !== '' && /^\/?\d*$/.test(pathname);
  } catch {
    return false;
  }
}
