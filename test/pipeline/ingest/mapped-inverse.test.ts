import fc from 'fast-check';
import { expect, it } from 'vitest';
import { settingsSchema } from '../../../src/kit/config/settings.ts';
import { LogLanding, ndjson } from '../../support/log-landing.ts';
import { rounds } from '../../support/rounds.ts';

/*
 * A law: what somebody else writes, by the inverse of a mapping, publishes and refuses what our own form does: under
 * other names of columns, which may be ours for other fields, with other delimiters, line ends, times and amounts.
 */

const clickFields = ['click_id', 'offer_id', 'source', 'external_id', 'site_key', 'user_id', 'clicked_at'].concat([
  'country',
  'user_agent',
  'sub1',
]);
const conversionFields = ['conversion_id', 'click_id', 'kind', 'occurred_at', 'event_id', 'payout', 'reason'];
const kindWords = { credit: 'Sale', reject: 'Rückgabe', chargeback: '0' } as const;

/** A way to write times. */
interface TimeForm {
  /** As a mapping says it; our own form without it. */
  time?: string;
  /** Digits past the second are written. */
  hasFraction: boolean;
  /** It is what clocks of a zone show. */
  isLocal: boolean;
  write(clock: Clock): string;
}

/** What a clock shows, each part with its noughts, and the microseconds since the epoch. */
type Clock = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction', string> & { micros: bigint };

const hourOfTwelve = (hour: string) => String(((Number(hour) + 11) % 12) + 1).padStart(2, '0');

const timeForms: readonly TimeForm[] = [
  {
    hasFraction: true,
    isLocal: true,
    write: ({ year, month, day, hour, minute, second, fraction }) =>
      `${year}-${month}-${day} ${hour}:${minute}:${second}.${fraction}`,
  },
  {
    time: '%d.%m.%Y, %H:%M:%S',
    hasFraction: false,
    isLocal: true,
    write: ({ year, month, day, hour, minute, second }) => `${day}.${month}.${year}, ${hour}:${minute}:${second}`,
  },
  {
    time: '%m/%d/%y %I:%M:%S.%f %p',
    hasFraction: true,
    isLocal: true,
    write: ({ year, month, day, hour, minute, second, fraction }) =>
      `${Number(month)}/${Number(day)}/${year.slice(2)} ${hourOfTwelve(hour)}:${minute}:${second}.${fraction} ` +
      (Number(hour) < 12 ? 'AM' : 'PM'),
  },
  { time: 'epoch_s', hasFraction: false, isLocal: false, write: ({ micros }) => String(micros / 1_000_000n) },
  { time: 'epoch_us', hasFraction: true, isLocal: false, write: ({ micros }) => String(micros) },
];

/** Zones with clocks that go back by an hour, by half of one, and not at all. */
const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', '+05:45'];

/** What clocks of a zone show, by the calendar of the runtime. */
function clockOf(micros: bigint, zone: string): Clock {
  const [, hours = '0', minutes = '0'] = /^\+(\d\d):(\d\d)$/.exec(zone) ?? [];
  const ahead = zone.startsWith('+') ? (Number(hours) * 60 + Number(minutes)) * 60_000 : 0;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone.startsWith('+') ? 'UTC' : zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const parts = format.formatToParts(Number(micros / 1000n) + ahead).map(({ type, value }) => [type, value] as const);
  return { ...Object.fromEntries(parts), fraction: String(micros % 1_000_000n).padStart(6, '0'), micros } as Clock;
}

/** Where clocks go back, the later one of two moments is meant: the earlier one cannot be written. */
function writable(micros: bigint, zone: string): bigint {
  const shown = (moment: bigint) => JSON.stringify({ ...clockOf(moment, zone), micros: undefined });
  const twin = [1_800_000_000n, 3_600_000_000n].find((shift) => shown(micros + shift) === shown(micros));
  return micros + (twin ?? 0n);
}

function rfc3339(micros: bigint): string {
  const { year, month, day, hour, minute, second, fraction } = clockOf(micros, '+00:00');
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}Z`;
}

/** How somebody else writes rows. */
interface Dialect {
  /** By field of ours. */
  columns: readonly string[];
  delimiter: string;
  saysDelimiter: boolean;
  lineEnd: string;
  form: TimeForm;
  zone: string;
  decimal: string;
  group: string | undefined;
  sign: string;
}

type Field = string | number | bigint | undefined;
type Row = Record<string, Field>;

const isTime = (name: string) => name.endsWith('_at');

/** A row of ours, as a line of JSON has it. */
function ours(row: Row): object {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'bigint' ? rfc3339(value) : value]),
  );
}

function theirs(rows: readonly Row[], fields: readonly string[], dialect: Dialect): string {
  const { columns, delimiter, lineEnd } = dialect;
  const cell = (text: string) => (/[\s",;|{[]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const line = (cells: readonly string[]) => `${cells.map(cell).join(delimiter)}${lineEnd}`;
  const named = fields.map((_, index) => columns[index] ?? '');
  return line(named) + rows.map((row) => line(fields.map((name) => theirValue(name, row[name], dialect)))).join('');
}

function theirValue(name: string, value: Field, { form, zone, decimal, group, sign }: Dialect): string {
  if (value === undefined) return '';
  if (typeof value === 'bigint') return form.write(clockOf(value, zone));
  if (name === 'kind') return kindWords[value as keyof typeof kindWords];
  if (name !== 'payout') return String(value);
  const [whole = '', fraction] = String(value).split('.');
  const grouped = group === undefined ? whole : whole.replaceAll(/\B(?=(?:\d{3})+$)/g, group);
  return `${grouped}${fraction === undefined ? '' : decimal + fraction}${sign}`;
}

/** The mapping that reads them. */
function mappingOf(match: string, fields: readonly string[], dialect: Dialect): object {
  const { columns, delimiter, saysDelimiter, form, zone, decimal, group, sign } = dialect;
  const places = fields.map((name, index): [string, unknown] => {
    const at = columns[index];
    if (isTime(name)) return [name, { at, time: form.time, zone: form.isLocal ? zone : undefined }];
    if (name === 'payout') return [name, { at, number: { decimal, group, strip: sign === '' ? undefined : sign } }];
    const words = Object.fromEntries(Object.entries(kindWords).map(([word, their]) => [their, word]));
    return [name, name === 'kind' ? { at, words } : at];
  });
  return { match, fields: Object.fromEntries(places), ...(saysDelimiter && { format: { delimiter } }) };
}

const text = fc
  .string({ unit: fc.constantFrom(...Array.from('abÖ7€ .,;|"\'\t\n-{}[]:\\')), minLength: 1, maxLength: 12 })
  .filter((each) => each.trim() !== '' && each !== '\\N');
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
/** Now and then none, where one is needed. */
const mostly = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 8 });

/** Where clocks of Berlin, New York and Lord Howe go back, and where those of Berlin go forward, each an hour before. */
const clockChanges = ['2026-10-25T00:00:00Z', '2026-11-01T05:00:00Z', '2026-04-04T14:00:00Z', '2026-03-29T00:00:00Z'];
const second = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...clockChanges), fc.nat(2 * 3600))
      .map(([from, after]) => Date.parse(from) / 1000 + after),
  },
  { weight: 1, arbitrary: fc.integer({ min: Date.parse('2026-01-01') / 1000, max: Date.parse('2026-11-18') / 1000 }) },
);
const moment = fc
  .tuple(second, fc.nat(999_999))
  .map(([seconds, micros]) => BigInt(seconds) * 1_000_000n + BigInt(micros));

/** Few ids, so that rows come twice, with the same values and with others. */
const id = fc.integer({ min: 1, max: 12 }).map((number) => `id-${number}`);
const offer = fc.oneof(
  fc.record({ offer_id: fc.integer({ min: 0, max: 9_000_000 }) }),
  fc.record({ source: text, external_id: mostly(text) }),
);
const clickRow = fc
  .tuple(
    fc.record<Row>({
      click_id: id,
      site_key: mostly(text),
      user_id: mostly(text),
      clicked_at: mostly(moment),
      country: maybe(fc.constantFrom('DE', 'us', 'Utopia')),
      user_agent: maybe(text),
      sub1: maybe(text),
    }),
    offer,
  )
  .map(([row, of]): Row => ({ ...row, ...of }));
const money = fc
  .tuple(fc.oneof(fc.nat(30), fc.nat(999_999_999)), maybe(fc.stringMatching(/^[0-9]{0,5}[1-9]$/)))
  .map(([whole, fraction]) => (fraction === undefined ? String(whole) : `${whole}.${fraction}`));
const conversionRow = fc.record<Row>({
  conversion_id: id,
  click_id: mostly(id),
  kind: mostly(fc.constantFrom(...Object.keys(kindWords))),
  occurred_at: mostly(moment),
  event_id: maybe(text),
  payout: maybe(money),
  reason: maybe(text),
});

const columnName = fc.oneof(
  fc.constantFrom(...clickFields, ...conversionFields),
  text.map((name) => name.trim()),
);
const dialect: fc.Arbitrary<Dialect> = fc
  .record({
    columns: fc.uniqueArray(columnName, { minLength: clickFields.length, maxLength: clickFields.length }),
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    saysDelimiter: fc.boolean(),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    form: fc.constantFrom(...timeForms),
    zone: fc.constantFrom(...zones),
    numbers: fc.constantFrom(['.', undefined], ['.', ','], [',', undefined], [',', '.'], [',', ' ']),
    sign: fc.constantFrom('', '€', 'USD'),
  })
  .map(({ numbers: [decimal = '.', group], ...rest }) => ({ ...rest, decimal, group }));

const file = fc
  .tuple(
    fc.oneof(
      fc.record({
        kind: fc.constant('clicks'),
        fields: fc.constant(clickFields),
        rows: fc.array(clickRow, { minLength: 1, maxLength: 12 }),
      }),
      fc.record({
        kind: fc.constant('conversions'),
        fields: fc.constant(conversionFields),
        rows: fc.array(conversionRow, { minLength: 1, maxLength: 12 }),
      }),
    ),
    dialect,
  )
  .map(([{ kind, fields, rows }, written]) => {
    const cut = (value: Field) => {
      if (typeof value !== 'bigint') return value;
      const whole = written.form.hasFraction ? value : value - (value % 1_000_000n);
      return written.form.isLocal ? writable(whole, written.zone) : whole;
    };
    const each = rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cut(value)])));
    return { kind, fields, rows: each, dialect: written };
  });

/** What a landing folder has published, refused and noticed. `above`: rows of a file above its records. */
async function published(landing: LogLanding, above: number) {
  const columns = '* EXCLUDE (event_key, file_id)';
  return {
    ledger: await landing.ledger(),
    clicks: await landing.events('clicks', columns),
    conversions: await landing.events('conversions', columns),
    rejects: await landing.query(`SELECT path, line - ${above} AS line, reason FROM rejects ORDER BY ALL`),
    warnings: await landing.warnings(),
  };
}

it('rows that a mapping reads publish what they do in our own form', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 6 }), async (files) => {
      await using own = await LogLanding.create();
      await using foreign = await LogLanding.create();
      const mappings: object[] = [];
      for (const [index, { kind, fields, rows, dialect: written }] of files.entries()) {
        const path = `${kind}/${index}/list.csv`;
        mappings.push(mappingOf(`${kind}/${index}/**`, fields, written));
        await own.putAt(path, ndjson(rows.map(ours)), '2026-11-18T09:00:00Z');
        await foreign.putAt(path, theirs(rows, fields, written), '2026-11-18T09:00:00Z');
      }
      await own.ingest();
      await foreign.ingest({ settings: settingsSchema.parse({ files: mappings }) });
      expect(await published(foreign, 1)).toEqual(await published(own, 0));
    }),
    // Making an example smaller takes longer than a test may.
    { numRuns: rounds(3, 6), endOnFailure: true },
  );
});
