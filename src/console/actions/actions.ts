import { z } from 'zod';
import { defineAction, type Action } from './action.ts';

/** Of a form, or of a program. */
const wholeNumber = z
  .union([
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
    z.int(),
  ])
  .pipe(z.int().min(1));
const name = z.string().min(1).max(256);
/** One text with blanks between, or several fields of one name. */
const names = z
  .union([z.array(name), z.string()])
  .transform((given) => (typeof given === 'string' ? given.split(/[\s,]+/) : given).filter((each) => each !== ''));
const day = z.iso.date();
const moment = z.iso.datetime({ offset: true });
const checked = z.union([z.literal('yes'), z.literal('on'), z.literal(true)]).transform(() => true);

/** The process's arguments are limited by the system; a filter reaches further. */
const mostIds = 500;

const option = (key: string, value: string | undefined) => (value === undefined ? [] : [`--${key}=${value}`]);
const flag = (key: string, value: boolean | undefined) => (value === true ? [`--${key}`] : []);

const acceptExport = defineAction({
  name: 'accept-export',
  title: 'Accept a held export',
  parameters: z.object({ file_id: wholeNumber }),
  words: ({ file_id }) => ({ command: ['offers', 'accept'], names: [String(file_id)] }),
  plan: z.object({
    held: z.object({ fileId: z.int(), sha256: z.string() }),
    removes: z.int(),
    offers: z
      .array(z.object({ offer_id: z.int(), status: z.string() }))
      // They come by their earnings, which go on changing.
      .transform((offers) => offers.toSorted((one, other) => one.offer_id - other.offer_id)),
  }),
  counts: ({ removes, offers }) => ({ active_offers_removed: removes, offers_removed: offers.length }),
  answer: z.object({ accepted: z.object({ rows: z.int() }) }),
  result: ({ accepted }) => ({ counts: { exports_accepted: 1, rows: accepted.rows } }),
});

const retryPostbacks = defineAction({
  name: 'retry-postbacks',
  title: 'Retry dead postbacks',
  parameters: z
    .object({
      ids: names.pipe(z.array(name).max(mostIds)).optional(),
      site: name.optional(),
      since: moment.optional(),
      until: moment.optional(),
      all: checked.optional(),
    })
    .refine(({ ids = [], site, since, until, all }) => ids.length > 0 || [site, since, until, all].some(Boolean), {
      path: ['ids'],
      message: 'say which: ids, a site, since, until, or all',
    }),
  words: ({ ids = [], site, since, until, all }) => ({
    command: ['postbacks', 'retry'],
    options: [...option('site', site), ...option('since', since), ...option('until', until), ...flag('all', all)],
    names: ids,
  }),
  plan: z.object({
    revived: z.int(),
    sites: z.array(z.object({ site_key: z.string(), postbacks: z.int(), ids_sha256: z.string() })),
  }),
  counts: ({ revived, sites }) => ({ postbacks: revived, sites: sites.length }),
  answer: z.object({ revived: z.int() }),
  result: ({ revived }) => ({ counts: { postbacks_revived: revived } }),
});

const testPostback = defineAction({
  name: 'test-postback',
  title: 'Send a test postback',
  parameters: z.object({ site_key: name }),
  words: ({ site_key }) => ({ command: ['postbacks', 'test'], names: [site_key] }),
  plan: z.object({ site_key: z.string(), method: z.string(), host: z.string() }),
  counts: () => ({ requests: 1 }),
  answer: z.object({ delivered: z.boolean(), status: z.int().nullable(), duration_ms: z.number() }),
  result: ({ delivered, status, duration_ms }) => ({
    counts: { delivered: delivered ? 1 : 0, ...(status === null ? {} : { status }), duration_ms },
  }),
});

const refresh = defineAction({
  name: 'refresh',
  title: 'Refresh now',
  parameters: z.object({}),
  words: () => ({ command: ['run', 'refresh'] }),
  // What is due by the clock goes out every minute anyway.
  plan: z.object({ files: z.array(z.object({ path: z.string(), bytes: z.int(), why: z.string() })) }),
  counts: ({ files }) => ({ files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }),
  answer: z.object({
    runId: z.int(),
    snapshotId: z.string().nullable(),
    ingested: z.object({
      files: z.int(),
      rows: z.int(),
      accepted: z.int(),
      duplicates: z.int(),
      rejected: z.int(),
      quarantined: z.int(),
    }),
    delivery: z.object({ delivered: z.int(), failed: z.int(), dead: z.int() }).nullable(),
  }),
  result: ({ runId, snapshotId, ingested, delivery }) => ({
    run_id: runId,
    snapshot_id: snapshotId,
    counts: {
      ...ingested,
      ...(delivery === null ? {} : { postbacks_delivered: delivery.delivered, postbacks_failed: delivery.failed }),
    },
  }),
});

const pull = defineAction({
  name: 'pull',
  title: 'Pull sources now',
  parameters: z.object({ sources: names.optional() }),
  words: ({ sources = [] }) => ({ command: ['sources', 'pull'], names: sources }),
  plan: z.object({
    sources: z.array(
      z.object({
        source: z.string(),
        host: z.string().nullable(),
        pulls: z.array(z.string()),
        error: z.string().nullable(),
      }),
    ),
  }),
  counts: ({ sources }) => ({ sources: sources.length }),
  answer: z.object({ sources: z.array(z.object({ status: z.string(), records: z.int(), conversion_lines: z.int() })) }),
  result: ({ sources }) => ({
    counts: {
      sources_pulled: sources.filter(({ status }) => status === 'done').length,
      sources_failed: sources.filter(({ status }) => status !== 'done').length,
      records: sources.reduce((sum, { records }) => sum + records, 0),
      conversion_lines: sources.reduce((sum, { conversion_lines }) => sum + conversion_lines, 0),
    },
  }),
});

const backfill = defineAction({
  name: 'backfill',
  title: 'Backfill daily reports',
  parameters: z.object({ from: day.optional(), to: day.optional(), all: checked.optional() }),
  words: ({ from, to, all }) => ({
    command: ['backfill', 'reports'],
    options: [...option('from', from), ...option('to', to), ...flag('all', all)],
  }),
  plan: z.object({ days: z.array(z.object({ day: z.string(), state: z.string() })) }),
  counts: ({ days }) => ({ days: days.length }),
  answer: z.object({ reports: z.array(z.object({ changed: z.int() })), snapshotId: z.string().nullable() }),
  result: ({ reports, snapshotId }) => ({
    snapshot_id: snapshotId,
    counts: { reports: reports.length, offers_changed: reports.reduce((sum, { changed }) => sum + changed, 0) },
  }),
});

/** All that can be done from the console, by name. */
export const actions: ReadonlyMap<string, Action> = new Map(
  [acceptExport, retryPostbacks, testPostback, refresh, pull, backfill].map((action) => [action.name, action]),
);
