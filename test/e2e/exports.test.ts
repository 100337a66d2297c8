import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingsSchema } from '../../src/kit/config/settings.ts';
import { moneyText, parseMoney } from '../../src/kit/text/decimal-text.ts';
import type { EventKind, LandingKind } from '../../src/kit/vocabulary/values.ts';
import { LogLanding } from '../support/log-landing.ts';
import { workbook } from './exports/write-workbook.ts';

const exports = new URL('../../data/exports/', import.meta.url);
const notData = ['mapping.json', 'expected.ndjson', 'events.ndjson'];
const folders = namesIn('').filter((name) => name !== 'README.md');

/** Doubling is exact whatever the digits, so that amounts in euros need no arithmetic of their own here. */
const rates = { EUR: '2' };

type Row = Record<string, unknown>;

/** A row of ours, or what became of a record instead; `file` where a folder has several. */
type Expected = Row & { file?: string; line?: number; reject?: string; passed_over?: true };

interface Mapping {
  match: string;
  fields: Row;
}

function namesIn(folder: string): string[] {
  return readdirSync(new URL(folder, exports)).toSorted();
}

function read(path: string): string {
  return readFileSync(new URL(path, exports), 'utf8');
}

function linesOf<Line extends Row>(path: string): Line[] {
  return read(path)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** Ingests files of one folder one after the other, as they arrive. */
async function ingested(landing: LogLanding, files: readonly [path: string, content: Uint8Array][], settings: object) {
  for (const [index, [path, content]] of files.entries()) {
    await landing.putAt(path, content, arrivedAt(index));
    await landing.ingest({ settings: settingsSchema.parse({ rates, ...settings }) });
  }
}

function arrivedAt(index: number): string {
  return `2026-11-18T09:0${index}:00Z`;
}

/** Events of a file without what only the warehouse knows of them, in the order of their ids. */
async function eventsOf(landing: LogLanding, kind: EventKind, path: string): Promise<Row[]> {
  const [file] = await landing.query<{ file_id: number }>('SELECT file_id FROM ingest_files WHERE path = $1', [path]);
  const events = await landing.events<Row>(kind, '* EXCLUDE (event_key, warnings)');
  return events
    .filter(({ file_id }) => file_id === file?.file_id)
    .map((event) => withoutAbsent({ ...event, file_id: undefined, payout: plainMoney(event['payout']) }));
}

function withoutAbsent(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined));
}

function plainMoney(payout: unknown): string | undefined {
  return typeof payout === 'string' ? moneyText(parseMoney(payout) ?? -1n) : undefined;
}

/** The event of a row. */
function eventOf({ currency, status, changed_at, ...row }: Row, arrived: string): Row {
  const payout = currency === 'EUR' ? plainMoney(String(2 * Number(row['payout']))) : row['payout'];
  const event = withoutAbsent({ ...row, payout });
  if (status === undefined) return event;
  // A credit or announcement has no reason. A reject is of the moment of the change.
  const { reason, occurred_at, ...both } = event;
  const own =
    status === 'credit' || status === 'pending' ? { occurred_at } : { reason, occurred_at: changed_at ?? arrived };
  return withoutAbsent({ ...both, kind: status, ...own });
}

function byId(events: readonly Row[]): Row[] {
  const idOf = ({ click_id, conversion_id, kind }: Row) => JSON.stringify([conversion_id ?? click_id, kind]);
  return events.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
}

it('there are exports of a dozen products, each on their page', () => {
  expect(folders.length).toBeGreaterThanOrEqual(12);
  const page = read('README.md');
  expect(folders.filter((folder) => !page.includes(`\n## \`${folder}/\``))).toEqual([]);
});

it('the workbook is what its script writes', () => {
  expect(readFileSync(new URL('workbook-statement/statement.xlsx', exports)).equals(workbook())).toBe(true);
});

describe.each(folders)('%s', (folder) => {
  const mapping = JSON.parse(read(`${folder}/mapping.json`)) as Mapping;
  const kind = mapping.match.split('/')[0] as LandingKind;
  const names = namesIn(`${folder}/`).filter((name) => !notData.includes(name));
  const pathOf = (name = names[0] ?? '') => mapping.match.replace('**', name);
  const files = names.map((name): [string, Uint8Array] => [
    pathOf(name),
    readFileSync(new URL(`${folder}/${name}`, exports)),
  ]);
  const expected = linesOf<Expected>(`${folder}/expected.ndjson`);
  const others = expected.filter(({ line }) => line !== undefined);
  const rows = expected.filter(({ line }) => line === undefined);

  const isOf = ({ file = names[0] }: Expected, name: string) => file === name;
  async function newLanding(): Promise<LogLanding> {
    const landing = await LogLanding.create();
    await ingested(landing, files, { files: [mapping] });
    return landing;
  }

  it('has rows that are good and rows that are not', () => {
    expect(mapping.match).toMatch(/^\w+\/\w+\/\*\*$/);
    expect(rows.length).toBeGreaterThan(0);
    expect(others.length).toBeGreaterThan(0);
    const both = others.filter(({ reject, passed_over }) => (reject === undefined) === (passed_over === undefined));
    expect(both).toEqual([]);
  });

  it('becomes the rows that are expected of it, and no others', async () => {
    await using landing = await newLanding();
    if (kind === 'offers') await expectOffers(landing);
    else await expectEvents(landing, kind);

    const rejects = others.filter(({ reject }) => reject !== undefined);
    expect(await landing.rejects()).toEqual(
      rejects.map(({ file, line, reject }) => `${pathOf(file)}:${line} ${reject}`),
    );
    const counts = names.map(
      (name) =>
        [`${pathOf(name)} passed_over`, others.filter((each) => isOf(each, name) && each.passed_over).length] as const,
    );
    expect((await landing.warnings()).filter((warning) => warning.includes(' passed_over '))).toEqual(
      counts.filter(([, count]) => count > 0).map(([what, count]) => `${what} ${count}`),
    );
    const statuses = await landing.query(
      'SELECT DISTINCT status, sum(rejected) AS rejected FROM ingest_files GROUP BY 1',
    );
    expect(statuses).toEqual([{ status: 'loaded', rejected: rejects.length }]);
  });

  /** Offers are what rows in our own form become, which draw no warning. */
  async function expectOffers(landing: LogLanding): Promise<void> {
    await using ours = await LogLanding.create();
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    await ingested(ours, [[pathOf('ours.ndjson'), Buffer.from(lines)]], {});
    expect(await ours.rejects()).toEqual([]);
    expect(await ours.warnings()).toEqual([]);
    const offers = 'SELECT * FROM offer_versions JOIN offers USING (offer_id) ORDER BY offer_id, version';
    const expectedOffers = await ours.query(offers);
    expect(expectedOffers.map(({ external_id }) => external_id)).toEqual(rows.map(({ external_id }) => external_id));
    expect(await landing.query(offers)).toEqual(expectedOffers);
  }

  async function expectEvents(landing: LogLanding, kindOfEvents: EventKind): Promise<void> {
    const isToldInTurn = namesIn(`${folder}/`).includes('events.ndjson');
    const accepted = await Promise.all(
      names.map(async (name) => {
        const events = await eventsOf(landing, kindOfEvents, pathOf(name));
        return isToldInTurn ? events.map((event) => ({ after: name, ...event })) : events;
      }),
    );
    // Without a page of its own a list of states is alone, and its arrival is known.
    const events = isToldInTurn
      ? linesOf<Row>(`${folder}/events.ndjson`)
      : rows.map((row) => eventOf(row, arrivedAt(0)));
    expect(byId(accepted.flat())).toEqual(byId(events));
  }
});
