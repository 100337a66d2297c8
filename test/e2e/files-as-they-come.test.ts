import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parquet } from '../support/parquet.ts';
import { workbookOf } from '../support/packed-files.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

/*
 * Values and files as databases, languages and spreadsheets write them, each through a whole refresh. What is read by its
 * bytes alone is in test/pipeline/landing/file-formats.test.ts, exports of products in exports.test.ts beside this file.
 */

const asOf = '2026-11-18T12:00:00Z';
const ten = '2026-11-17T06:15:00Z';
const seconds = Date.parse(ten) / 1000;

/** A file of its own folder, whose rows have ids that begin with it: `bigquery-1`. */
interface Landed {
  what: string;
  kind: 'clicks' | 'conversions';
  folder: string;
  ending: string;
  content: string | Uint8Array | (() => Promise<Uint8Array>);
  /** The mapping without its `match`. */
  mapping?: object;
  /** The column of the analysts' file that is looked at, and its value of each row that is accepted, by its id. */
  column: 'clicked_at' | 'credited_at' | 'user_id' | 'offer_id' | 'payout' | 'event_id';
  accepted: Record<string, unknown>;
  /** `row reason` of each rejected row. */
  rejected?: string[];
}

const header = ['click_id', 'offer_id', 'site_key', 'user_id', 'clicked_at'];
const table = (rows: readonly (readonly string[])[], delimiter = ',') =>
  rows.map((row) => `${row.join(delimiter)}\n`).join('');
const click = (id: string, own: object = {}) => ({
  click_id: id,
  offer_id: 17,
  site_key: 'wall',
  user_id: 'zoë',
  clicked_at: ten,
  ...own,
});
const ndjson = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Rows of values, with what each becomes: a value, or after `!` the reason for which the row is rejected. */
type Spellings = readonly (readonly [text: string | number, becomes: string])[];

const spelled = (folder: string, spellings: Spellings, firstRow: number): Pick<Landed, 'accepted' | 'rejected'> => ({
  accepted: Object.fromEntries(
    spellings.flatMap(([, becomes], at) => (becomes.startsWith('!') ? [] : [[`${folder}-${at + 1}`, becomes]])),
  ),
  rejected: spellings.flatMap(([, becomes], at) =>
    becomes.startsWith('!') ? [`${at + firstRow} ${becomes.slice(1)}`] : [],
  ),
});

const times: Spellings = [
  ['2026-11-17 06:15:00 UTC', ten],
  ['2026-11-17 06:15:00.25 UTC', '2026-11-17T06:15:00.250000Z'],
  ['2026-11-17 06:15:00+00', ten],
  ['2026-11-17 11:45:00.5+05:30', '2026-11-17T06:15:00.500000Z'],
  ['2026-11-17 06:15:00.000 Z', ten],
  ['2026-11-17 06:15:00.000 +0000', ten],
  ['2026-11-17T06:15:00.000+0000', ten],
  ['2026-11-17T06:15Z', ten],
  [String(seconds), ten],
  [String(seconds * 1000), ten],
  [`${seconds}.25`, '!bad_clicked_at'],
  ['17/Nov/2026:06:15:00 +0000', '!bad_clicked_at'],
  ['"Tue, 17 Nov 2026 06:15:00 GMT"', '!bad_clicked_at'],
  ['2026-11-17 06:15:00', '!timestamp_without_offset'],
];
const numbersOfTimes: Spellings = [
  [seconds, ten],
  [seconds * 1000, ten],
  [seconds + 0.25, '!bad_clicked_at'],
];
const amounts: Spellings = [
  ['2.75000000', '2.750000'],
  ['2.75e0', '2.750000'],
  [' 2.75', '2.750000'],
  ['.75', '0.750000'],
  ['+2.75', '2.750000'],
  ['19.989999999999998', '!bad_payout'],
  ['0.7000000000000001', '!bad_payout'],
];
const conversionHeader = ['conversion_id', 'click_id', 'kind', 'occurred_at', 'payout', 'event_id'];

const decimals = (folder: string, type: string) =>
  parquet(`SELECT '${folder}-' || row AS conversion_id, 'c' AS click_id, 'credit' AS kind,
    TIMESTAMPTZ '${ten}' AS occurred_at, paid::${type} AS payout FROM (VALUES (1, 2.75), (2, 0.000001), (3, 0.0000001)) AS t (row, paid)`);
/** A moment without a zone, as Parquet has it from engines that have none. */
const unzoned = (folder: string) =>
  parquet(
    `SELECT '${folder}-1' AS click_id, 17 AS offer_id, 'wall' AS site_key, 'u' AS user_id, TIMESTAMP '2026-11-17 06:15:00' AS clicked_at`,
  );

/** A moment in the twelve bytes that Impala and older Spark write, which DuckDB does not; written by pyarrow. */
const int96 = Buffer.from(
  [
    'UEFSMRUAFSIVNCwVAhUAFQYVBhwAAAAotS/9IBGJAAACAAAAAgEHAAAAaW50OTYtMRUAFRQVJiwVAhUAFQYVBhwAAAAotS/9IApR',
    'AAACAAAAAgERAAAAFQAVHBUuLBUCFQAVBhUGHAAAACi1L/0gDnEAAAIAAAACAQQAAAB3YWxsFQAVFhUoLBUCFQAVBhUGHAAAACi1',
    'L/0gC1kAAAIAAAACAQEAAAB1FQAVJBU2LBUCFQAVBhUGHAAAACi1L/0gEpEAAAIAAAACAQDogbB2FAAAso4lABUEGWw1ABgGc2No',
    'ZW1hFQoAFQwlAhgIY2xpY2tfaWQlAEwcAAAAFQIlAhgIb2ZmZXJfaWQAFQwlAhgIc2l0ZV9rZXklAEwcAAAAFQwlAhgHdXNlcl9p',
    'ZCUATBwAAAAVBiUCGApjbGlja2VkX2F0ABYCGRwZXCYAHBUMGSUGABkYCGNsaWNrX2lkFQwWAhZIFlomCEkcFQAVABUCADwWDhkG',
    'GSYAAgAAACYAHBUCGSUGABkYCG9mZmVyX2lkFQwWAhY6FkwmYkkcFQAVABUCADwpBhkmAAIAAAAmABwVDBklBgAZGAhzaXRlX2tl',
    'eRUMFgIWQhZUJq4BSRwVABUAFQIAPBYIGQYZJgACAAAAJgAcFQwZJQYAGRgHdXNlcl9pZBUMFgIWPBZOJoICSRwVABUAFQIAPBYC',
    'GQYZJgACAAAAJgAcFQYZJQYAGRgKY2xpY2tlZF9hdBUMFgIWShZcJtACSRwVABUAFQIAPCkGGSYAAgAAABbKAhYCJggWpAMAKCBw',
    'YXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRlcHAAAHAAAHAAAHAAAHAAAALMBAABQQVIx',
  ].join(''),
  'base64',
);

const byNames = Object.fromEntries(header.map((name) => [name, name]));

const files: Landed[] = [
  {
    what: 'times in CSV, as databases and languages write them',
    kind: 'clicks',
    folder: 'times',
    ending: 'csv',
    content: table([header, ...times.map(([text], at) => [`times-${at + 1}`, '17', 'wall', 'u', String(text)])]),
    column: 'clicked_at',
    ...spelled('times', times, 2),
  },
  {
    what: 'times since the epoch as numbers of JSON',
    kind: 'clicks',
    folder: 'epochs',
    ending: 'ndjson',
    content: ndjson(numbersOfTimes.map(([text], at) => click(`epochs-${at + 1}`, { clicked_at: text }))),
    column: 'clicked_at',
    ...spelled('epochs', numbersOfTimes, 1),
  },
  {
    what: 'seconds with a fraction, by a mapping',
    kind: 'clicks',
    folder: 'fractions',
    ending: 'ndjson',
    content: `{"click_id":"fractions-1","offer_id":17,"site_key":"wall","user_id":"u","ts":${seconds}.25}\n{"click_id":"fractions-2","offer_id":17,"site_key":"wall","user_id":"u","ts":"soon"}\n`,
    mapping: { fields: { ...byNames, clicked_at: { at: 'ts', time: 'epoch_s' } } },
    column: 'clicked_at',
    accepted: { 'fractions-1': '2026-11-17T06:15:00.250000Z' },
    rejected: ['2 bad_clicked_at'],
  },
  {
    what: 'times of mail, by a pattern',
    kind: 'clicks',
    folder: 'mail',
    ending: 'csv',
    content: table([
      header,
      ['mail-1', '17', 'wall', 'u', '"Tue, 17 Nov 2026 06:15:00 GMT"'],
      ['mail-2', '17', 'wall', 'u', ten],
    ]),
    mapping: { fields: { ...byNames, clicked_at: { at: 'clicked_at', time: '%a, %d %b %Y %H:%M:%S %Z' } } },
    column: 'clicked_at',
    accepted: { 'mail-1': ten },
    rejected: ['3 bad_clicked_at'],
  },
  {
    what: 'times of access logs, by a pattern',
    kind: 'clicks',
    folder: 'access',
    ending: 'csv',
    content: table([header, ['access-1', '17', 'wall', 'u', '17/Nov/2026:08:15:00 +0200']]),
    mapping: { fields: { ...byNames, clicked_at: { at: 'clicked_at', time: '%d/%b/%Y:%H:%M:%S %z' } } },
    column: 'clicked_at',
    accepted: { 'access-1': ten },
  },
  {
    what: 'times of MongoDB, by a place',
    kind: 'clicks',
    folder: 'mongo',
    ending: 'ndjson',
    content: ndjson([
      click('mongo-1', { clicked_at: { $date: '2026-11-17T06:15:00.000Z' } }),
      click('mongo-2', { clicked_at: {} }),
    ]),
    mapping: { fields: { ...byNames, clicked_at: 'clicked_at.$date' } },
    column: 'clicked_at',
    accepted: { 'mongo-1': ten },
    rejected: ['2 missing_clicked_at'],
  },
  {
    what: 'an INT96 of Parquet, which has no zone',
    kind: 'clicks',
    folder: 'int96',
    ending: 'parquet',
    content: int96,
    column: 'clicked_at',
    accepted: {},
    rejected: ['1 timestamp_without_offset'],
  },
  {
    what: 'a moment without a zone in Parquet',
    kind: 'clicks',
    folder: 'unzoned',
    ending: 'parquet',
    content: () => unzoned('unzoned'),
    column: 'clicked_at',
    accepted: {},
    rejected: ['1 timestamp_without_offset'],
  },
  ...(['csv', 'ndjson'] as const).map((ending): Landed => {
    const folder = `amounts-${ending}`;
    const rows = amounts.map(([text], at) => [`${folder}-${at + 1}`, 'c', 'credit', ten, String(text), '']);
    const records = rows.map((row) =>
      Object.fromEntries(row.slice(0, 5).map((value, at) => [conversionHeader[at], value])),
    );
    return {
      what: `amounts as texts of ${ending}`,
      kind: 'conversions',
      folder,
      ending,
      content: ending === 'csv' ? table([conversionHeader, ...rows]) : ndjson(records),
      column: 'payout',
      ...spelled(folder, amounts, ending === 'csv' ? 2 : 1),
    };
  }),
  {
    what: 'amounts that lost their decimal form, rounded by a mapping',
    kind: 'conversions',
    folder: 'rounded',
    ending: 'ndjson',
    content: ['19.989999999999998', '0.7000000000000001', '"1,5"']
      .map((paid, at) => `{"conversion_id":"rounded-${at + 1}","click_id":"c","occurred_at":"${ten}","paid":${paid}}\n`)
      .join(''),
    mapping: {
      fields: {
        conversion_id: 'conversion_id',
        click_id: 'click_id',
        occurred_at: 'occurred_at',
        kind: { value: 'credit' },
        payout: { at: 'paid', number: { round: true } },
      },
    },
    column: 'payout',
    accepted: { 'rounded-1': '19.990000', 'rounded-2': '0.700000' },
    rejected: ['3 bad_payout'],
  },
  ...['DECIMAL(18,8)', 'DECIMAL(38,18)'].map((type, at): Landed => ({
    what: `${type} of Parquet`,
    kind: 'conversions',
    folder: `decimal${at}`,
    ending: 'parquet',
    content: () => decimals(`decimal${at}`, type),
    column: 'payout',
    accepted: { [`decimal${at}-1`]: '2.750000', [`decimal${at}-2`]: '0.000001' },
    rejected: ['3 bad_payout'],
  })),
  {
    what: 'a whole number with a point, as pandas writes a column with gaps',
    kind: 'clicks',
    folder: 'pandas',
    ending: 'csv',
    content: table([
      header,
      ['pandas-1', '17.0', 'wall', 'u', ten],
      ['pandas-2', '', 'wall', 'u', ten],
      ['pandas-3', '17.5', 'wall', 'u', ten],
    ]),
    column: 'offer_id',
    accepted: { 'pandas-1': 17 },
    rejected: ['3 missing_offer', '4 bad_offer_id'],
  },
  {
    what: 'absent users',
    kind: 'clicks',
    folder: 'absent',
    ending: 'csv',
    content: table([
      header,
      ['absent-1', '17', 'wall', '\\N', ten],
      ['absent-2', '17', 'wall', 'NULL', ten],
      ['absent-3', '\\N', 'wall', 'u', ten],
      ['absent-4', '17', 'wall', '"NULL"', ten],
    ]),
    column: 'user_id',
    accepted: { 'absent-4': 'NULL' },
    rejected: ['2 missing_user_id', '3 missing_user_id', '4 missing_offer'],
  },
  {
    what: 'absent milestones',
    kind: 'conversions',
    folder: 'milestones',
    ending: 'csv',
    content: table([
      conversionHeader,
      ...['\\N', 'NULL', 'level-5'].map((event, at) => [`milestones-${at + 1}`, 'c', 'credit', ten, '1', event]),
    ]),
    column: 'event_id',
    accepted: { 'milestones-1': null, 'milestones-2': null, 'milestones-3': 'level-5' },
  },
  {
    what: 'comments before the header',
    kind: 'clicks',
    folder: 'comments',
    ending: 'csv',
    content: `# an export of ours, in two parts\n#\n${table([header, ['comments-1', '17', 'wall', '#u', ten]])}`,
    mapping: { format: { skip: '#' } },
    column: 'user_id',
    accepted: { 'comments-1': '#u' },
  },
  {
    what: 'Windows-1252 that is named',
    kind: 'clicks',
    folder: 'windows',
    ending: 'csv',
    content: Buffer.from(table([header, ['windows-1', '17', 'wall', 'zoë\u0080', ten]], ';'), 'latin1'),
    mapping: { format: { encoding: 'windows-1252' } },
    column: 'user_id',
    accepted: { 'windows-1': 'zoë€' },
  },
  {
    what: 'a total below, which a mapping passes over',
    kind: 'clicks',
    folder: 'total',
    ending: 'csv',
    content: `${table([header, ['total-1', '17', 'wall', 'u', ten], ['Total', '', '', '2', '']])}\n`,
    mapping: { rows: { at: 'click_id', not: ['total'] } },
    column: 'user_id',
    accepted: { 'total-1': 'u' },
  },
  {
    what: 'a list within a document',
    kind: 'clicks',
    folder: 'within',
    ending: 'json',
    content: JSON.stringify(
      { data: { items: [click('within-1'), click('within-2', { user_id: null })] }, errors: [] },
      null,
      1,
    ),
    mapping: { format: { records: 'data.items' } },
    column: 'user_id',
    accepted: { 'within-1': 'zoë' },
    rejected: ['2 missing_user_id'],
  },
  {
    what: 'one of two lists of a document',
    kind: 'clicks',
    folder: 'two',
    ending: 'json',
    content: JSON.stringify({ old: [click('two-1')], new: [click('two-2')] }),
    mapping: { format: { records: 'new' } },
    column: 'user_id',
    accepted: { 'two-2': 'zoë' },
  },
  {
    what: 'a sheet that is named, with moments without a zone and digits of binary numbers',
    kind: 'conversions',
    folder: 'sheet',
    ending: 'xlsx',
    content: workbookOf({
      Cover: [['An export']],
      Data: [
        ['Conversion ID', 'Click ID', 'When', 'Paid'],
        ['sheet-1', 'c', { day: '46343.34375' }, { number: '2.7500000000000002' }],
        ['sheet-2', 'c', { day: '46343.34375' }, { number: 'soon' }],
      ],
    }),
    mapping: {
      format: { sheet: 'Data' },
      fields: {
        conversion_id: 'Conversion ID',
        click_id: 'Click ID',
        kind: { value: 'credit' },
        occurred_at: { at: 'When', zone: 'Europe/Berlin' },
        payout: 'Paid',
      },
    },
    column: 'payout',
    accepted: { 'sheet-1': '2.750000' },
    rejected: ['3 bad_payout'],
  },
  {
    what: 'elements of XML',
    kind: 'clicks',
    folder: 'xml',
    ending: 'json',
    content: `<?xml version="1.0"?><export><clicks>${['zo&#235;', ''].map((user, at) => `<click id="xml-${at + 1}"><offer>17</offer><site>wall</site><user>${user}</user><at>${ten}</at></click>`).join('')}</clicks></export>`,
    mapping: {
      format: { records: 'export.clicks.click' },
      fields: { click_id: '@id', offer_id: 'offer', site_key: 'site', user_id: 'user', clicked_at: 'at' },
    },
    column: 'user_id',
    accepted: { 'xml-1': 'zoë' },
    rejected: ['2 missing_user_id'],
  },
];

async function landed(settings: object, given: readonly Landed[]): Promise<PipelineUnderTest> {
  const pipeline = await PipelineUnderTest.create(new Date(asOf), { settings });
  for (const { kind, folder, ending, content } of given) {
    const path = join(pipeline.data.landing, kind, folder, `a.${ending}`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === 'function' ? await content() : content);
  }
  await pipeline.refresh(asOf);
  return pipeline;
}

interface Outcomes {
  files: { path: string; status: string; rejected: number }[];
  rejects: { path: string; entry: string }[];
  clicks: Record<string, unknown>[];
  conversions: Record<string, unknown>[];
}

async function outcomesIn(pipeline: PipelineUnderTest): Promise<Outcomes> {
  return {
    files: await pipeline.ask('SELECT path, status, rejected FROM ingest_files'),
    rejects: await pipeline.ask(`SELECT path, line || ' ' || reason AS entry FROM rejects ORDER BY line`),
    clicks: await pipeline.ask('SELECT click_id AS id, clicked_at, user_id, offer_id FROM clicks ORDER BY ALL'),
    conversions: await pipeline.ask(
      'SELECT conversion_id AS id, credited_at, payout, event_id FROM conversions ORDER BY ALL',
    ),
  };
}

/** What became of a file's rows. */
function outcomeOf(outcomes: Outcomes, { kind, folder, ending, column }: Landed) {
  const path = `${kind}/${folder}/a.${ending}`;
  const events = outcomes[kind].filter(({ id }) => String(id).startsWith(`${folder}-`));
  const file = outcomes.files.find((each) => each.path === path);
  return {
    file: file && { status: file.status, rejected: file.rejected },
    accepted: Object.fromEntries(events.map(({ id, [column]: value }) => [id, value])),
    rejected: outcomes.rejects.filter((each) => each.path === path).map(({ entry }) => entry),
  };
}

async function refreshed(settings: object, given: readonly Landed[]): Promise<Outcomes> {
  const mappings = given.flatMap(({ kind, folder, mapping }) =>
    mapping === undefined ? [] : [{ match: `${kind}/${folder}/**`, ...mapping }],
  );
  await using pipeline = await landed({ ...settings, files: mappings }, given);
  return await outcomesIn(pipeline);
}

function expectOutcome(outcomes: Outcomes, file: Landed): void {
  const { accepted, rejected = [] } = file;
  expect(outcomeOf(outcomes, file)).toEqual({
    file: { status: 'loaded', rejected: rejected.length },
    accepted,
    rejected,
  });
}

const refreshMilliseconds = 120_000;

describe('through a refresh', () => {
  let outcomes: Outcomes;
  beforeAll(async () => {
    outcomes = await refreshed({}, files);
  }, refreshMilliseconds);

  it.for(files.map((file) => [file.what, file] as const))('%s', ([, file]) => expectOutcome(outcomes, file));
});

describe('times without an offset, where offerline.json names an offset for the log', () => {
  const withZone: Landed[] = [
    {
      what: 'in CSV',
      kind: 'clicks',
      folder: 'zoned',
      ending: 'csv',
      content: table([
        header,
        ['zoned-1', '17', 'wall', 'u', '2026-11-17 08:15:00'],
        ['zoned-2', '17', 'wall', 'u', ten],
      ]),
      column: 'clicked_at',
      accepted: { 'zoned-1': ten, 'zoned-2': ten },
    },
    {
      what: 'in a timestamp of Parquet',
      kind: 'clicks',
      folder: 'unzoned',
      ending: 'parquet',
      content: () => unzoned('unzoned'),
      column: 'clicked_at',
      accepted: { 'unzoned-1': '2026-11-17T04:15:00Z' },
    },
    {
      what: 'in an INT96 of Parquet',
      kind: 'clicks',
      folder: 'int96',
      ending: 'parquet',
      content: int96,
      column: 'clicked_at',
      accepted: { 'int96-1': '2026-11-17T04:15:00Z' },
    },
    {
      what: 'of conversions, by another offset',
      kind: 'conversions',
      folder: 'west',
      ending: 'csv',
      content: table([conversionHeader, ['west-1', 'c', 'credit', '2026-11-17 01:15:00', '1', '']]),
      column: 'credited_at',
      accepted: { 'west-1': ten },
    },
  ];
  let outcomes: Outcomes;
  beforeAll(async () => {
    const logs = { clicks: { time_zone: '+02:00' }, conversions: { time_zone: '-0500' } };
    outcomes = await refreshed({ logs }, withZone);
  }, refreshMilliseconds);

  it.for(withZone.map((file) => [file.what, file] as const))('%s', ([, file]) => expectOutcome(outcomes, file));
});
