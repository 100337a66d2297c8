import { z } from 'zod';
import { statusBadge } from '../html/badges.ts';
import { html } from '../../kit/html/html.ts';
import { facts, linkTo, missing, moment, shownNumber, numberValue, textOrMissing } from '../html/values.ts';
import { defineAction, type Action } from './action.ts';
import { checked, flag, name, option } from './form-parameters.ts';
import { planTable } from './plan-table.ts';
import { siteActions } from './site-actions.ts';

/** A number from a form or a program. */
const wholeNumber = z
  .union([
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
    z.int(),
  ])
  .pipe(z.int().min(1));
/** Names from one text with blanks between them, or from several fields of one name. */
const names = z
  .union([z.array(name), z.string()])
  .transform((given) => (typeof given === 'string' ? given.split(/[\s,]+/) : given).filter((each) => each !== ''));
const day = z.iso.date();
const dateTime = z.iso.datetime({ offset: true });

/** The system limits the arguments of a process; a filter has no such limit. */
const maxIds = 500;

const acceptExport = defineAction({
  name: 'accept-export',
  title: 'Accept a held export',
  parameters: z.object({ file_id: wholeNumber }),
  words: ({ file_id }) => ({ command: ['offers', 'accept'], names: [String(file_id)] }),
  plan: z.object({
    held: z.object({ fileId: z.int(), sha256: z.string(), source: z.string(), path: z.string() }),
    removes: z.int(),
    active: z.int(),
    as_of: z.string().nullable(),
    earnings: z.string(),
    offers: z.array(
      z.object({
        offer_id: z.int(),
        status: z.string(),
        title: z.string().nullable(),
        clicks: z.int(),
        conversions: z.int(),
        earnings: z.string(),
      }),
    ),
  }),
  // The answer has the offers by their earnings, which go on changing.
  changes: ({ held: { fileId, sha256 }, removes, offers }) => ({
    held: { fileId, sha256 },
    removes,
    offers: offers
      .map(({ offer_id, status }) => ({ offer_id, status }))
      .toSorted((one, other) => one.offer_id - other.offer_id),
  }),
  counts: ({ removes, offers }) => ({ active_offers_removed: removes, offers_removed: offers.length }),
  show: ({ held, removes, active, as_of, earnings, offers }) => [
    facts([
      ['Export', linkTo('files', held.fileId, held.path)],
      ['Source', held.source],
      ['Removes', `${shownNumber(removes)} of ${shownNumber(active)} active offers`],
      [
        'Their earnings',
        as_of === null
          ? missing('nothing is published yet')
          : html`${shownNumber(earnings, 2)} USD in the window as of ${moment(as_of)}`,
      ],
    ]),
    planTable('Offers to remove, highest earnings first', offers, [
      { name: 'offer_id', title: 'Offer', kind: 'number', link: 'offers' },
      { name: 'title', title: 'Title', whyNone: 'it is newer than the snapshot' },
      { name: 'status', title: 'Status' },
      { name: 'clicks', title: 'Clicks', kind: 'number' },
      { name: 'conversions', title: 'Conversions', kind: 'number' },
      { name: 'earnings', title: 'Earnings, USD', kind: 'money' },
    ]),
  ],
  answer: z.object({ accepted: z.object({ rows: z.int() }) }),
  result: ({ accepted }) => ({ counts: { exports_accepted: 1, rows: accepted.rows } }),
});

const retryPostbacks = defineAction({
  name: 'retry-postbacks',
  title: 'Retry dead postbacks',
  parameters: z
    .object({
      ids: names.pipe(z.array(name).max(maxIds)).optional(),
      site: name.optional(),
      since: dateTime.optional(),
      until: dateTime.optional(),
      all: checked.optional(),
    })
    .refine(({ ids = [], site, since, until, all }) => ids.length > 0 || [site, since, until, all].some(Boolean), {
      path: ['ids'],
      message: 'choose ids, a site, since, until, or all',
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
  changes: (plan) => plan,
  counts: ({ revived, sites }) => ({ postbacks: revived, sites: sites.length }),
  show: ({ sites }) => [
    planTable('Dead postbacks to retry', sites, [
      { name: 'site_key', title: 'Site', link: 'sites' },
      { name: 'postbacks', title: 'Postbacks', kind: 'number' },
    ]),
  ],
  answer: z.object({ revived: z.int() }),
  result: ({ revived }) => ({ counts: { postbacks_revived: revived } }),
});

const testPostback = defineAction({
  name: 'test-postback',
  title: 'Send a test postback',
  parameters: z.object({ site_key: name }),
  words: ({ site_key }) => ({ command: ['postbacks', 'test'], names: [site_key] }),
  plan: z.object({ site_key: z.string(), site_status: z.string(), method: z.string(), host: z.string() }),
  changes: ({ site_key, method, host }) => ({ site_key, method, host }),
  counts: () => ({ requests: 1 }),
  show: ({ site_key, site_status, method, host }) => [
    facts([
      ['Site', html`${linkTo('sites', site_key)}, ${site_status}`],
      ['Sends', `one ${method} with a reward of 0, for an invented click`],
      ['To', html`<code>${host}</code>`],
    ]),
  ],
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
  plan: z.object({
    files: z.array(z.object({ path: z.string(), kind: z.string(), bytes: z.int(), why: z.string() })),
    left_out: z.array(z.object({ path: z.string(), why: z.string() })),
    reports_due: z.int(),
    postbacks_due: z.array(z.object({ due: z.int() })),
  }),
  // Reports and postbacks become due by the clock, with and without this action.
  changes: ({ files }) => ({ files: files.map(({ path, bytes, why }) => ({ path, bytes, why })) }),
  counts: ({ files }) => ({ files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }),
  show: ({ files, left_out, reports_due, postbacks_due }) => [
    facts([
      ['Daily reports due', numberValue(reports_due)],
      ['Postbacks due', numberValue(postbacks_due.reduce((sum, { due }) => sum + due, 0))],
    ]),
    planTable('Files to ingest', files, [
      { name: 'path', title: 'Path' },
      { name: 'kind', title: 'Kind' },
      { name: 'bytes', title: 'Bytes', kind: 'number' },
      { name: 'why', title: 'Why' },
    ]),
    ...(left_out.length === 0
      ? []
      : [
          planTable('New files that bring nothing', left_out, [
            { name: 'path', title: 'Path' },
            { name: 'why', title: 'Why' },
          ]),
        ]),
  ],
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
        connector: z.string().nullable(),
        host: z.string().nullable(),
        pulls: z.array(z.string()),
        last_whole_pull_at: z.string().nullable(),
        error: z.string().nullable(),
      }),
    ),
  }),
  changes: ({ sources }) => ({
    sources: sources.map(({ source, host, pulls, error }) => ({ source, host, pulls, error })),
  }),
  counts: ({ sources }) => ({ sources: sources.length }),
  show: ({ sources }) => [
    planTable(
      'Networks to pull',
      sources.map((each) => ({ ...each, pulls: each.pulls.join(', ') })),
      [
        { name: 'source', title: 'Source' },
        { name: 'connector', title: 'Connector' },
        { name: 'host', title: 'Host', whyNone: 'its SDK chooses the host' },
        { name: 'pulls', title: 'For' },
        { name: 'last_whole_pull_at', title: 'Last whole pull', kind: 'moment', whyNone: 'none was whole' },
        { name: 'error', title: 'Expected error', whyNone: 'none' },
      ],
    ),
  ],
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
  plan: z.object({ days: z.array(z.object({ day: z.string(), state: z.string(), causes: z.string() })) }),
  changes: ({ days }) => ({ days: days.map(({ day: date, state }) => ({ day: date, state })) }),
  counts: ({ days }) => ({ days: days.length }),
  show: ({ days }) => [
    planTable('Reports to compute', days, [
      { name: 'day', title: 'Day' },
      { name: 'state', title: 'State', show: ({ state }) => statusBadge(state) },
      {
        name: 'causes',
        title: 'Why',
        show: ({ causes }) => textOrMissing(causes === '' ? null : causes, 'no cause is recorded'),
      },
    ]),
  ],
  answer: z.object({ reports: z.array(z.object({ changed: z.int() })), snapshotId: z.string().nullable() }),
  result: ({ reports, snapshotId }) => ({
    snapshot_id: snapshotId,
    counts: { reports: reports.length, offers_changed: reports.reduce((sum, { changed }) => sum + changed, 0) },
  }),
});

/** All actions of the console, by name. */
export const actions: ReadonlyMap<string, Action> = new Map(
  [acceptExport, retryPostbacks, testPostback, refresh, pull, backfill, ...siteActions].map((action) => [
    action.name,
    action,
  ]),
);
