import { isIP } from 'node:net';
import { z } from 'zod';
import { UsageError } from '../errors/errors.ts';
import { isTimeZone, noTimeZone } from '../time/zone.ts';
import { consoleSchema } from './console-settings.ts';
import type { DataDirectory } from './data-directory.ts';
import { readTextFile } from './regular-file.ts';
import { storageSchema } from './storage-settings.ts';
import { secretSchema } from './secrets.ts';
import { trackerSchema } from './tracker-settings.ts';

const timeZone = z.string().refine(isTimeZone, { error: noTimeZone });

/** How the files of one catalog source are understood. */
const source = z.strictObject({
  /** `full`: each file is the whole catalog and what it lacks is removed; `delta`: files only add and change. */
  mode: z.enum(['full', 'delta']).default('full'),
  /** The zone of timestamps written without an offset; without it such rows are rejected. */
  time_zone: timeZone.optional(),
});

const log = z.strictObject({ time_zone: timeZone.optional() });

/**
 * When a pipeline runs: a cron expression, UTC, alone or with what becomes of times that passed without a run; null for
 * never.
 */
const planKeys = {
  cron: z.string(),
  /** Times that passed while no scheduler ran: one run for each, one for the newest, or none. */
  catch_up: z.enum(['all', 'last', 'none']).default('last'),
  /** A time that comes while the run before is still under way: left out, or run after it. */
  overlap: z.enum(['skip', 'queue']).default('skip'),
};

function plan<Keys extends typeof planKeys>(cron: string, keys: Keys, hint: string) {
  const full = z.strictObject(keys);
  return z
    .union([full, z.string().transform((text) => full.parse({ cron: text })), z.null()], {
      error: `is null, a cron expression, or {"cron": "…", "catch_up": "all" | "last" | "none", "overlap": "skip" | "queue"${hint}}`,
    })
    .prefault(cron);
}

/** Memory as Spark writes it. */
const sparkMemory = z.string().regex(/^[1-9]\d{0,5}[mg]$/, 'is not an amount such as "512m" or "4g"');

/** Apache Spark. What is not here, passwords above all, is Spark's own to configure: `spark-defaults.conf`. */
const sparkEngine = z
  .strictObject({
    kind: z.literal('spark'),
    /** Of a cluster (`spark://host:7077`), or another of Spark's masters. */
    master: z.string().min(1).optional(),
    /** A Spark Connect server in place of a master: `sc://host:15002`. */
    connect: z.string().startsWith('sc://', 'does not begin with sc://').optional(),
    /**
     * A folder that this machine and the workers see under the same path. Without one they see the data directory so.
     */
    shared_folder: z.string().startsWith('/', 'is not an absolute path').optional(),
    /** The Python that has `pyspark` in the cluster's version. */
    python: z.string().min(1).default('python3'),
    resources: z
      .strictObject({
        executor_memory: sparkMemory.optional(),
        executor_cores: z.int().min(1).max(1024).optional(),
        /** Of all executors together. Default: what the cluster gives. */
        cores: z.int().min(1).max(1_000_000).optional(),
        driver_memory: sparkMemory.optional(),
      })
      .default({}),
    /** A run that Spark takes longer over fails, and the next one begins its files anew. */
    time_limit_s: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(6 * 3600),
  })
  .refine(({ master, connect }) => (master === undefined) !== (connect === undefined), {
    error: 'needs one of master and connect',
  });

/** An address with a password, or where it is kept. A text that is none is told without being repeated. */
const postgresAddress = secretSchema.refine(
  (address) => typeof address !== 'string' || /^postgres(ql)?:\/\//.test(address),
  { error: 'is not an address that begins with postgres://' },
);

/** `offerline.json`. Every key has a default, so the file itself is optional. */
const settingsSchema = z.strictObject({
  host: z.string().default('127.0.0.1'),
  port: z.int().min(0).max(65535).default(8080),
  /** The address publishers reach us at, used for pictures. Default: the listening address. */
  public_url: z.url().optional(),
  /** The address that users reach the tracker at, used for tracking links. Default: where the tracker listens. */
  tracking_url: z.url().optional(),
  /**
   * Addresses or networks (`10.0.0.0/8`) of the proxies before the service. Only what they say in `X-Forwarded-For`
   * is believed; from anybody else the header could be made up.
   */
  trusted_proxies: z
    .array(z.string().refine(isNetwork, { error: 'is not an address or a network such as 10.0.0.0/8' }))
    .default([]),
  /** The operators' pages: a listener of their own. */
  console: consoleSchema.prefault({}),
  /** Whether offers' pictures are mirrored and served by us. Else clients are sent to the advertisers' addresses. */
  pictures: z.boolean().default(false),
  /** What `/api/v1/offers` on the bare host answers where no site is identified. */
  default_variant: z.enum(['B', 'C']).default('C'),
  sources: z.record(z.string(), source).default({}),
  logs: z
    .strictObject({ clicks: log.default({}), conversions: log.default({}) })
    .default({ clicks: {}, conversions: {} }),
  /** USD for one unit of a currency, as decimal text so that no digit is lost. */
  rates: z
    .record(
      z.string().refine(isCurrencyCode, 'is not an ISO 4217 code such as EUR'),
      z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, 'is not a plain decimal in quotes such as "1.08"'),
    )
    .default({}),
  schedule: z
    .strictObject({
      refresh: plan(
        '*/5 * * * *',
        {
          ...planKeys,
          /**
           * Also runs as soon as files have landed, as the file system tells: only those of the tracker, which come
           * whole, or all, where whoever lands them renames them into place, too.
           */
          watch: z.union([z.boolean(), z.literal('tracker')]).default('tracker'),
        },
        ', "watch": true',
      ),
      /** Pulls the sources of `sources.json` that have no `every` of their own. */
      pull: plan('*/20 * * * *', planKeys, ''),
      postbacks: plan('*/10 * * * * *', planKeys, ''),
      maintenance: plan('30 3 * * *', planKeys, ''),
      /** Only where `pictures` is true. */
      pictures: plan('*/15 * * * *', planKeys, ''),
    })
    .prefault({}),
  /** In days; without a number everything is kept. */
  retention: z
    .strictObject({
      /** Older clicks lose what is about a person or is free text; what counts and tells duplicates apart stays. */
      events: z.int().min(2).max(36_500).optional(),
      /** Older runs leave the run ledger. */
      runs: z.int().min(1).max(36_500).optional(),
      /** Older attempts at delivering postbacks are deleted. More days than a postback is tried for. */
      attempts: z.int().min(7).max(36_500).optional(),
    })
    .default({}),
  /** What `status` takes as stale, by the data's own time; without a number nothing is. */
  freshness: z
    .strictObject({
      clicks_minutes: z.number().positive().optional(),
      conversions_minutes: z.number().positive().optional(),
      offers_minutes: z.number().positive().optional(),
      /** Of the last whole pull of each source of `sources.json`, by this machine's clock. */
      pulls_minutes: z.number().positive().optional(),
      /** For how long a site may take no postback while some fail; 60 where nothing is said. */
      postbacks_minutes: z.number().positive().optional(),
    })
    .default({}),
  /**
   * A packed landing file that unpacks to more is quarantined, and so is one whose records take more: it would fill the
   * disk. Gigabytes of 10⁹ bytes.
   */
  unpacked_gigabytes: z.number().positive().default(10),
  /** How many published snapshots stay on disk, the current one included. */
  snapshots_kept: z.int().min(1).max(1000).default(5),
  /** A service whose snapshot is older says at `/readyz` that it is not ready. Default: no age is too old. */
  snapshot_max_age_minutes: z.number().positive().optional(),
  /** How long a run waits for another that holds the warehouse. */
  lock_wait_seconds: z.number().min(0).max(3600).default(60),
  /** What stages logs into events: DuckDB within the run, or a Spark cluster. The figures are the same. */
  engine: z
    .discriminatedUnion('kind', [z.strictObject({ kind: z.literal('duckdb') }), sparkEngine])
    .default({ kind: 'duckdb' }),
  /** Where snapshots and the state are published for other machines, too. */
  storage: storageSchema.optional(),
  /** Rate limits over several services, counted in Redis. Default: each service counts its own requests. */
  limits: z
    .strictObject({
      /** `redis://` or, over TLS, `rediss://`; it may hold a password, so it may be a reference to where it is kept. */
      redis: secretSchema.refine((redis) => typeof redis !== 'string' || isRedisAddress(redis), {
        error: 'is not an address such as redis://host:6379/0',
      }),
      /** How many services share the limits. While Redis is away each allows its part. */
      servers: z.int().min(1).max(1000).default(1),
    })
    .optional(),
  /** Where deliveries are kept: in SQLite on this machine, or in a PostgreSQL that several machines deliver from. */
  postbacks: z.strictObject({ store: postgresAddress.optional() }).default({}),
  /** Where clicks and conversions of our own come in. */
  tracker: trackerSchema,
  duckdb: z
    .strictObject({
      /** DuckDB's buffer limit, such as "4GB". Default: half of the memory that the process may use. */
      memory_limit: z
        .string()
        .regex(/^\d+(\.\d+)?\s?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)$/)
        .optional(),
      threads: z.int().min(1).max(256).optional(),
    })
    .default({}),
});

export type Settings = z.output<typeof settingsSchema>;
/** One entry of `schedule`. */
export type Plan = NonNullable<Settings['schedule']['refresh' | 'postbacks']>;

/** Every key that `offerline.json` may have. */
export const settingNames = Object.keys(settingsSchema.shape);

export const defaultSettings: Settings = settingsSchema.parse({});

/** Reads `offerline.json`; a missing file means all defaults. Throws `UsageError` naming file and key. */
export function readSettings(data: DataDirectory): Settings {
  let text: string;
  try {
    text = readTextFile(data.settingsFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return defaultSettings;
    throw new UsageError(`${data.settingsFile} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return parseSettings(text, data.settingsFile);
}

export function parseSettings(text: string, file: string): Settings {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    // The parser's message may quote the text around the mistake, which may be a password.
    const [place = ''] = / at position \d+ \(.*\)$/.exec((error as Error).message) ?? [];
    throw new UsageError(`${file} is not valid JSON${place}`);
  }
  const parsed = settingsSchema.safeParse(json);
  if (!parsed.success) throw new UsageError(`${file} cannot be used:\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Whether a text is an address or, with the bits of its prefix, a network. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  return (
    isIP(address) !== 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
  );
}

/** Whether a text may be a currency in `rates`. */
export function isCurrencyCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text);
}

/** Whether a text says where a Redis is: `redis://` or `rediss://`, and which of its databases. */
export function isRedisAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname } = new URL(text);
  return /^rediss?:$/.test(protocol) && hostname !== '' && /^\/?\d*$/.test(pathname);
}
