import { describe, expect, onTestFinished } from 'vitest';
import { defaultSettings } from '../../../../src/kit/config/settings.ts';
import { it } from '../../../support/landing-test.ts';
import { click, conversion, csv, LogLanding, ndjson } from '../../../support/log-landing.ts';
import { parquet } from '../../../support/parquet.ts';
import { slow } from '../../../support/slow.ts';

const at = '2026-11-18T12:00:00Z';

/** Ingests lines of one log together and returns the outcome of each: `loaded`, or why it was rejected. */
async function outcomes(
  kind: 'clicks' | 'conversions',
  lines: readonly (string | object)[],
  settings = defaultSettings,
): Promise<{ results: string[]; landing: LogLanding }> {
  const landing = await LogLanding.create();
  onTestFinished(() => landing[Symbol.asyncDispose]());
  await landing.put(`${kind}/a.ndjson`, lines);
  await landing.ingest({ settings });
  const rejects = await landing.query<{ line: number; reason: string; raw: string; raw_length: number }>(
    'SELECT line, reason, raw, raw_length FROM rejects',
  );
  const byLine = new Map(rejects.map((reject) => [reject.line, reject]));
  for (const { line, raw, raw_length } of rejects) {
    const characters = Array.from(textOf(lines[line - 1] ?? ''));
    expect([raw, raw_length]).toEqual([characters.slice(0, 2000).join(''), characters.length]);
  }
  return { results: lines.map((_, index) => byLine.get(index + 1)?.reason ?? 'loaded'), landing };
}

const textOf = (line: string | object) => (typeof line === 'string' ? line : JSON.stringify(line));

/** A click as text with one piece of it written otherwise. */
function clickText(id: string, replaced: RegExp | string, by: string): string {
  const text = JSON.stringify(click(id));
  expect(text.replace(replaced, by)).not.toBe(text);
  return text.replace(replaced, by);
}

type Case = [line: string | object, outcome: string];

async function expectOutcomes(kind: 'clicks' | 'conversions', cases: readonly Case[]): Promise<void> {
  const { results } = await outcomes(
    kind,
    cases.map(([line]) => line),
  );
  expect(cases.map(([line], index) => [textOf(line).slice(0, 300), results[index]])).toEqual(
    cases.map(([line, outcome]) => [textOf(line).slice(0, 300), outcome]),
  );
}

describe('lines', () => {
  it('that are no JSON object are rejected alone', async () => {
    const good = JSON.stringify(click('unpacked'));
    await expectOutcomes('clicks', [
      [click('good'), 'loaded'],
      ['hello', 'not_json_object'],
      ['[1,2]', 'not_json_object'],
      [`[${good}]`, 'not_json_object'],
      ['5', 'not_json_object'],
      ['"text"', 'not_json_object'],
      ['null', 'not_json_object'],
      ['true', 'not_json_object'],
      ['{', 'not_json_object'],
      ['}', 'not_json_object'],
      ['{}', 'missing_click_id'],
      [`${good}${good}`, 'not_json_object'],
      [`${good},`, 'not_json_object'],
      [good.slice(0, -1), 'not_json_object'],
      [clickText('comma', /}$/, ',}'), 'not_json_object'],
      [clickText('comma-2', /}$/, ' , }'), 'not_json_object'],
      [clickText('comma-3', '"user_id":"u"', '"user_id":5').replace(/}$/, ',}'), 'not_json_object'],
      [
        '{"click_id":1,"offer_id":7,"site_key":2,"user_id":3,"clicked_at":"2026-11-18T10:00:00Z","sub1":4,}',
        'not_json_object',
      ],
      [clickText('NaN', /}$/, ',"sub1":NaN}'), 'not_json_object'],
      [clickText('nan', '"user_id":"u"', '"user_id":NaN'), 'not_json_object'],
      [clickText('infinity', '"user_id":"u"', '"user_id":-Infinity'), 'not_json_object'],
      [clickText('comment', /}$/, '/* */}'), 'not_json_object'],
      [clickText('single', '"u"', "'u'"), 'not_json_object'],
      ['\u0002{"click_id":"control"}', 'not_json_object'],
      [`${good.slice(0, -1)}\u0000}`, 'not_json_object'],
      [clickText('text that looks so', '"u"', '"NaN,} /* Infinity"'), 'loaded'],
      [` \t${JSON.stringify(click('indented'))}\t `, 'loaded'],
      [JSON.stringify(click('spaced'), null, 1).replaceAll('\n', ' '), 'loaded'],
    ]);
  });

  it('that have a key twice are rejected, however it is written', async () => {
    await expectOutcomes('clicks', [
      [clickText('a', /}$/, ',"user_id":"u"}'), 'duplicate_key'],
      [clickText('b', /}$/, ',"user\\u005fid":"other"}'), 'duplicate_key'],
      [clickText('c', /}$/, ',"x":1,"x":1}'), 'duplicate_key'],
      [clickText('d', /}$/, ',"x":{"user_id":"z"}}'), 'loaded'],
    ]);
  });

  it('are numbered as they lie in the file, with carriage returns, a mark, blank lines and a torn end', async ({
    landing,
  }) => {
    await landing.put(
      'clicks/crlf.ndjson',
      `\ufeff${JSON.stringify(click('a'))}\r\n\r\n   \r\nbad\r\nbad\r\n${JSON.stringify(click('b'))}\r\n{"click_id":"to`,
    );
    await landing.put('clicks/last.ndjson', `\n\n${JSON.stringify(click('c'))}\n${JSON.stringify(click('d'))}`);
    await landing.put(
      'clicks/array.json',
      JSON.stringify([click('e'), [1], click('f', { offer_id: 0 }), 'x'], null, 2),
    );
    await landing.ingest();
    expect(await landing.ledger()).toEqual([
      'clicks/array.json loaded 4=1+0+3',
      'clicks/crlf.ndjson loaded 5=2+0+3',
      'clicks/last.ndjson loaded 2=2+0+0',
    ]);
    expect(await landing.rejects()).toEqual([
      'clicks/array.json:2 not_json_object',
      'clicks/array.json:3 bad_offer_id',
      'clicks/array.json:4 not_json_object',
      'clicks/crlf.ndjson:4 not_json_object',
      'clicks/crlf.ndjson:5 not_json_object',
      'clicks/crlf.ndjson:7 not_json_object',
    ]);
    expect(await landing.query("SELECT raw FROM rejects WHERE contains(path, 'crlf') ORDER BY line")).toEqual([
      { raw: 'bad' },
      { raw: 'bad' },
      { raw: '{"click_id":"to' },
    ]);
  });

  it('of separators alone are passed over, and keep the others their numbers', async ({ landing }) => {
    const written = (cells: readonly string[]) => `${cells.join(';')}\n`;
    const [names, good] = [Object.keys(click('a')), Object.values(click('a')).map(String)];
    const bad = good.with(names.indexOf('clicked_at'), 'never');
    const rows = [names, [...names].fill(''), ['', ''], good, [...names].fill(' '), bad, [...names].fill('""')];
    await landing.put('clicks/a.csv', rows.map(written).join(''));
    await landing.put('offers/net/a.csv', 'external_id;title;payout\n1;One;1\n;;\n');
    await landing.ingest();
    expect(await landing.ledger()).toEqual(['clicks/a.csv loaded 2=1+0+1', 'offers/net/a.csv loaded 1=1+0+0']);
    expect(await landing.rejects()).toEqual(['clicks/a.csv:6 bad_clicked_at']);
    expect(await landing.warnings()).toEqual([]);
  });
});

it('what the line reader cuts at makes no good line of a bad one', async ({ landing }) => {
  await landing.put(
    'clicks/a.ndjson',
    `${JSON.stringify(click('a'))}\u0001\u0002x\n\u0001\u0002${JSON.stringify(click('b'))}\n\u0001\u0002\n${JSON.stringify(click('c', { user_id: '\u0001\u0002' }))}\n`,
  );
  await landing.put('clicks/b.csv', csv([click('d', { user_id: '\u0001\u0002' })]));
  await landing.ingest();
  expect(await landing.rejects()).toEqual([1, 2, 3].map((line) => `clicks/a.ndjson:${line} not_json_object`));
  expect(await landing.query('SELECT raw FROM rejects ORDER BY line LIMIT 1 OFFSET 2')).toEqual([
    { raw: '\u2401\u0002' },
  ]);
  expect(await landing.ids('clicks')).toEqual(['c', 'd']);
});

describe('CSV', () => {
  const header = 'click_id,offer_id,site_key,user_id,clicked_at,sub1';
  const row = (id: string, rest = '') => `${id},7,s,u,2026-11-18T10:00:00Z,${rest}`;

  it('knows quotes, line breaks within them, columns in any order, and empty cells as absent values', async ({
    landing,
  }) => {
    await landing.put(
      'clicks/a.csv',
      `user_id,clicked_at,site_key,click_id,source,external_id,offer_id\r\n"u ""1"", with\r\n a break",2026-11-18T10:00:00Z,s,a,"net","x",\r\n`,
    );
    await landing.ingest();
    expect(await landing.events('clicks', 'click_id, offer_id, source, external_id, user_id')).toEqual([
      { click_id: 'a', offer_id: null, source: 'net', external_id: 'x', user_id: 'u "1", with\n a break' },
    ]);
  });

  it('counts rows from the header as row 1, ragged ones among them, not lines', async ({ landing }) => {
    await landing.put(
      'clicks/a.csv',
      [
        header,
        row('ok', '"two\nlines"'),
        'short,7,s',
        row('long', 'x,y'),
        row('empty', 'x,'),
        row('0', 'x'),
        '"q""\n",7,"s"',
        row('last').replace(',u,', ',,'),
        '',
      ].join('\n'),
    );
    await landing.ingest();
    expect(await landing.query('SELECT line, reason, raw::JSON::VARCHAR AS raw FROM rejects ORDER BY line')).toEqual([
      { line: 3, reason: 'wrong_cell_count', raw: '["short","7","s"]' },
      { line: 4, reason: 'wrong_cell_count', raw: '["long","7","s","u","2026-11-18T10:00:00Z","x","y"]' },
      { line: 5, reason: 'wrong_cell_count', raw: '["empty","7","s","u","2026-11-18T10:00:00Z","x",""]' },
      { line: 7, reason: 'wrong_cell_count', raw: '["q\\"\\n","7","s"]' },
      {
        line: 8,
        reason: 'missing_user_id',
        raw: '{"click_id":"last","offer_id":"7","site_key":"s","user_id":null,"clicked_at":"2026-11-18T10:00:00Z","sub1":null}',
      },
    ]);
    expect(await landing.ids('clicks')).toEqual(['0', 'ok']);
  });

  it('keeps names apart that differ in case only, but not two spellings of a field', async ({ landing }) => {
    await landing.put('clicks/a.csv', csv([{ ...click('a'), Note: '1', note: '2' }]));
    await landing.put('clicks/b.csv', csv([{ ...click('b'), User_ID: 'other' }]));
    await landing.ingest();
    expect(await landing.ledger()).toEqual([
      'clicks/a.csv loaded 1=1+0+0',
      'clicks/b.csv quarantined bad_header 0=0+0+0',
    ]);
    expect(await landing.warnings()).toEqual([
      'clicks/a.csv unknown_field Note 1',
      'clicks/a.csv unknown_field note 1',
    ]);
  });

  it('keeps numbers of rows over many blocks', slow, async ({ landing }) => {
    const rows = Array.from({ length: 40_000 }, (_, index) =>
      index % 10_000 === 9_999
        ? 'ragged'
        : index % 10_000 === 5_000
          ? row(`c${index}`).replace(',7,', ',x,')
          : row(`c${index}`, `"${'long text '.repeat(20)}\n"`),
    );
    await landing.put('clicks/a.csv', [header, ...rows, ''].join('\n'));
    await landing.ingest();
    expect(await landing.ledger()).toEqual(['clicks/a.csv loaded 40000=39992+0+8']);
    expect(await landing.query('SELECT line FROM rejects ORDER BY line')).toEqual(
      [5002, 10_001, 15_002, 20_001, 25_002, 30_001, 35_002, 40_001].map((line) => ({ line })),
    );
  });
});

describe('Parquet', () => {
  it('keeps every digit, refuses what is no whole number, and timestamps without a zone', async ({ landing }) => {
    await landing.put(
      'clicks/a.parquet',
      await parquet(
        `SELECT * FROM (VALUES
         (1, 7.25::DOUBLE, TIMESTAMPTZ '2026-11-18 10:00:00.123456+02', ['a', 'b']),
         (2, 7.5, TIMESTAMPTZ '2026-11-18 10:00:00+00', NULL),
         (3, NULL, NULL, NULL)) AS t (click_id, offer_id, clicked_at, sub1), (SELECT 's' AS site_key, 'u' AS user_id)`,
      ),
    );
    await landing.put(
      'clicks/b.parquet',
      await parquet(
        `SELECT 'local' AS click_id, 7::UTINYINT AS offer_id, 's' AS site_key, 'u' AS user_id, TIMESTAMP '2026-11-18 10:00:00' AS clicked_at`,
      ),
    );
    await landing.put(
      'clicks/c.parquet',
      await parquet(
        `SELECT 9007199254740993 AS click_id, 2147483647 AS offer_id, 's' AS site_key, 12 AS user_id, TIMESTAMPTZ '2026-11-18 10:00:00.123456+02' AS clicked_at, true AS extra`,
      ),
    );
    await landing.put(
      'conversions/d.parquet',
      await parquet(
        `SELECT 'x' || payout AS conversion_id, 'c' AS click_id, 'credit' AS kind, TIMESTAMPTZ '2026-11-18 10:00:00+00' AS occurred_at, payout
       FROM (VALUES (12.3400::DECIMAL(12,4)), (0.1::DECIMAL(12,4))) AS t (payout)`,
      ),
    );
    await landing.ingest();
    expect(await landing.rejects()).toEqual([
      'clicks/a.parquet:1 bad_offer_id',
      'clicks/a.parquet:2 bad_offer_id',
      'clicks/a.parquet:3 missing_offer',
      'clicks/b.parquet:1 timestamp_without_offset',
    ]);
    expect(await landing.events('clicks', 'click_id, offer_id, user_id, clicked_at')).toEqual([
      { click_id: '9007199254740993', offer_id: 2147483647, user_id: '12', clicked_at: '2026-11-18T08:00:00.123456Z' },
    ]);
    expect(await landing.events('conversions', 'payout')).toEqual([{ payout: '0.100000' }, { payout: '12.340000' }]);
    expect(await landing.warnings()).toEqual(['clicks/c.parquet unknown_field extra 1']);
  });
});

describe('identifiers', () => {
  it('are taken exactly or not at all', async () => {
    const text = (json: string) => clickText('x', '"click_id":"x"', `"click_id":${json}`);
    await expectOutcomes('clicks', [
      [text('9007199254740993'), 'loaded'],
      [text('"9007199254740995"'), 'loaded'],
      [text('18446744073709551615'), 'loaded'],
      [click('x'.repeat(128)), 'loaded'],
      [click('x'.repeat(129)), 'bad_click_id'],
      [click(''), 'bad_click_id'],
      [click(' ~'), 'loaded'],
      [click('é'), 'bad_click_id'],
      [click('a\tb'), 'bad_click_id'],
      [click('a\u007fb'), 'bad_click_id'],
      [click('a\u0000b'), 'bad_click_id'],
      [text('1.5'), 'bad_click_id'],
      [text('1e20'), 'bad_click_id'],
      [text('1e3'), 'bad_click_id'],
      [text('1e400'), 'bad_click_id'],
      [text('1e-7'), 'bad_click_id'],
      [text('true'), 'bad_click_id'],
      [text('{"a":1}'), 'bad_click_id'],
      [text('[]'), 'bad_click_id'],
      [text('null'), 'missing_click_id'],
      [text('"1.5"'), 'loaded'],
      [text('"1e20"'), 'loaded'],
      [text('"true"'), 'loaded'],
      [text('"{}"'), 'loaded'],
      [text('"[1]"'), 'loaded'],
      [text('"null"'), 'loaded'],
      [text('9'.repeat(5000)), 'bad_click_id'],
      [click('no', { click_id: undefined, Click_Id: 'no' }), 'missing_click_id'],
    ]);
  });

  it('numbers and text keep their digits', async () => {
    const { landing } = await outcomes('clicks', [
      '{"click_id":9007199254740993,"offer_id":7,"site_key":1,"user_id":123456789012345678901234567890,"clicked_at":"2026-11-18T10:00:00Z"}',
      '{"click_id":"9007199254740993.0","offer_id":"0007","site_key":"1","user_id":"9007199254740995","clicked_at":"2026-11-18T10:00:00Z"}',
    ]);
    expect(await landing.events('clicks', 'click_id, offer_id, site_key, user_id')).toEqual([
      { click_id: '9007199254740993', offer_id: 7, site_key: '1', user_id: '123456789012345678901234567890' },
      { click_id: '9007199254740993.0', offer_id: 7, site_key: '1', user_id: '9007199254740995' },
    ]);
  });

  it('offers are named by a whole number in range, or by source and external id', async () => {
    let id = 0;
    const offer = (json: string) => clickText(`c${id++}`, '"offer_id":7', `"offer_id":${json}`);
    const named = (fields: object) => click(`c${id++}`, { offer_id: undefined, ...fields });
    await expectOutcomes('clicks', [
      [offer('1'), 'loaded'],
      [offer('2147483647'), 'loaded'],
      [offer('"5"'), 'loaded'],
      [offer('0'), 'bad_offer_id'],
      [offer('-1'), 'bad_offer_id'],
      [offer('2147483648'), 'bad_offer_id'],
      [offer('9007199254740993'), 'bad_offer_id'],
      [offer('5.0'), 'loaded'],
      [offer('5e0'), 'loaded'],
      [offer('"5.0"'), 'loaded'],
      [offer('5.5'), 'bad_offer_id'],
      [offer('" 5"'), 'bad_offer_id'],
      [offer('"+5"'), 'bad_offer_id'],
      [offer('"0x5"'), 'bad_offer_id'],
      [offer('""'), 'bad_offer_id'],
      [offer('true'), 'bad_offer_id'],
      [offer('[5]'), 'bad_offer_id'],
      [offer('{}'), 'bad_offer_id'],
      [offer('1'.repeat(5000)), 'bad_offer_id'],
      [offer('null'), 'missing_offer'],
      [named({}), 'missing_offer'],
      [named({ source: 'net' }), 'missing_offer'],
      [named({ external_id: 'x' }), 'missing_offer'],
      [named({ source: 'net', external_id: 'x' }), 'loaded'],
      [named({ source: 'net', external_id: 5 }), 'loaded'],
      [named({ source: '', external_id: 'x' }), 'bad_source'],
      [named({ source: 'net', external_id: { x: 1 } }), 'bad_external_id'],
      [click('both', { source: 'net', external_id: 'x' }), 'loaded'],
    ]);
  });

  it('sites and users are 1 to 256 characters of any language', async () => {
    await expectOutcomes('clicks', [
      [click('a', { user_id: 'ü'.repeat(256) }), 'loaded'],
      [click('b', { user_id: '🎮'.repeat(256) }), 'loaded'],
      [click('c', { user_id: 'ü'.repeat(257) }), 'bad_user_id'],
      [click('d', { user_id: '' }), 'bad_user_id'],
      [click('e', { user_id: null }), 'missing_user_id'],
      [click('f', { user_id: 5.5 }), 'bad_user_id'],
      [click('g', { user_id: false }), 'bad_user_id'],
      [click('h', { user_id: ['u'] }), 'bad_user_id'],
      [click('i', { site_key: undefined }), 'missing_site_key'],
      [click('j', { site_key: {} }), 'bad_site_key'],
      [click('k', { site_key: 'nobody knows' }), 'loaded'],
      [clickText('l', '"u"', '9'.repeat(5000)), 'bad_user_id'],
    ]);
  });

  it('names with a NUL are refused; where a text has one it is dropped with a warning', slow, async () => {
    const nul = 'a\u0000b';
    await expectOutcomes('clicks', [
      [click('a', { site_key: nul }), 'bad_site_key'],
      [click('b', { user_id: '\u0000' }), 'bad_user_id'],
      [click('c', { offer_id: undefined, source: nul, external_id: 'x' }), 'bad_source'],
      [click('d', { offer_id: undefined, source: 'net', external_id: nul }), 'bad_external_id'],
      [click('e', { source: nul }), 'bad_source'],
    ]);
    await expectOutcomes('conversions', [[conversion('a', { event_id: nul }), 'bad_event_id']]);
    const texts = { ip: nul, user_agent: nul, sub1: nul, sub2: 'kept' };
    const { results, landing } = await outcomes('clicks', [click('texts', texts), click('good', { ip: '::1' })]);
    expect(results).toEqual(['loaded', 'loaded']);
    expect(await landing.events('clicks', 'ip, user_agent, sub1, sub2')).toEqual([
      { ip: '::1', user_agent: null, sub1: null, sub2: null },
      { ip: null, user_agent: null, sub1: null, sub2: 'kept' },
    ]);
    expect(await landing.warnings()).toEqual(
      ['ip', 'sub1', 'user_agent'].map((field) => `clicks/a.ndjson bad_${field} ${field} 1`),
    );
    const reversed = await outcomes('conversions', [conversion('r', { kind: 'reject', reason: nul })]);
    expect(reversed.results).toEqual(['loaded']);
    expect(await reversed.landing.events('conversions', 'kind, reason')).toEqual([{ kind: 'reject', reason: null }]);
    expect(await reversed.landing.warnings()).toEqual(['conversions/a.ndjson bad_reason reason 1']);
  });
});

describe('timestamps', () => {
  const good: [written: string | number, moment: string][] = [
    ['2026-11-18T10:00:00Z', '2026-11-18T10:00:00Z'],
    ['2026-11-18 10:00:00Z', '2026-11-18T10:00:00Z'],
    ['2026-11-18t10:00:00z', '2026-11-18T10:00:00Z'],
    ['2026-11-18T10:00:00.5+01:00', '2026-11-18T09:00:00.500000Z'],
    ['2026-11-18T10:00:00.123456999Z', '2026-11-18T10:00:00.123456Z'],
    ['2026-11-18T10:00:00.9999999999999999Z', '2026-11-18T10:00:00.999999Z'],
    ['2026-11-18T10:00:00+18:00', '2026-11-17T16:00:00Z'],
    ['2026-11-18T10:00:00-18:00', '2026-11-19T04:00:00Z'],
    ['2026-11-18T10:00:00-00:00', '2026-11-18T10:00:00Z'],
    ['2024-02-29T23:59:59+05:45', '2024-02-29T18:14:59Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['2026-11-19T12:00:00Z', '2026-11-19T12:00:00Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999999Z'],
    ['2016-12-31t15:59:60.5-08:00', '2016-12-31T23:59:59.999999Z'],
    ['2017-01-01 05:44:60+05:45', '2016-12-31T23:59:59.999999Z'],
    ['2026-10-31T23:59:60.0z', '2026-10-31T23:59:59.999999Z'],
    ['2026-11-18T10:00Z', '2026-11-18T10:00:00Z'],
    ['2026-11-18T10:00:00+01', '2026-11-18T09:00:00Z'],
    ['2026-11-18 10:00:00.5 +0100', '2026-11-18T09:00:00.500000Z'],
    ['2026-11-18T10:00:00 UTC', '2026-11-18T10:00:00Z'],
    [1_795_000_000, '2026-11-18T11:06:40Z'],
    ['1795000000123456', '2026-11-18T11:06:40.123456Z'],
  ];
  const bad: [written: unknown, reason: string][] = [
    ...[
      '',
      'yesterday',
      '2026-11-18',
      '2026-11-18T10Z',
      '20261118T100000Z',
      '2026-11-18T24:00:00Z',
      '2026-11-18T10:60:00Z',
      '2026-11-18T23:59:60Z',
      '2016-12-31T23:59:61Z',
      '2016-12-31T23:59:60+01:00',
      '2016-12-31T23:60:60Z',
      '2016-12-31T23:59:60.Z',
      '0000-12-31T23:59:60Z',
      '2026-02-29T10:00:00Z',
      '2026-13-01T10:00:00Z',
      '2026-11-31T10:00:00Z',
      '2026-00-10T10:00:00Z',
      '2026-11-18T10:00:00+18:01',
      '2026-11-18T10:00:00+19:00',
      '2026-11-18T10:00:00+99:00',
      '2026-11-18T10:00:00 Europe/Berlin',
      '2026/11/18T10:00:00Z',
      '2026-11-18T10:00:00,5Z',
      '2026-11-18T10:00:00.Z',
      ' 2026-11-18T10:00:00Z',
      '2026-11-18T10:00:00Z\n',
      '2026-11-18  10:00:00Z',
      '١٠٢٦-11-18T10:00:00Z',
      '0000-12-31T23:59:59Z',
      '0001-01-01T00:00:00+00:01',
      '10000-01-01T00:00:00Z',
      'epoch',
      'infinity',
      'now',
    ].map((text): [string, string] => [text, 'bad_clicked_at']),
    ...[1_795_000_000.5, 17_950_000_001, true, {}, [1]].map((value): [unknown, string] => [value, 'bad_clicked_at']),
    [null, 'missing_clicked_at'],
    ['2026-11-18T10:00:00', 'timestamp_without_offset'],
    ['2026-11-18 10:00:00.5', 'timestamp_without_offset'],
    ['2026-11-19T12:00:00.000001Z', 'future_timestamp'],
    ['2026-11-20T05:00:00+16:59', 'future_timestamp'],
    ['9999-12-31T23:59:59Z', 'future_timestamp'],
  ];

  it('are RFC 3339 or say the same, have an offset, and are at most 24 hours ahead of the wall clock', async () => {
    const cases = [...good, ...bad].map(([written], index) =>
      click(`c${String(index).padStart(3, '0')}`, { clicked_at: written }),
    );
    const { results, landing } = await outcomes('clicks', cases);
    expect(results.map((result, index) => [cases[index]?.['clicked_at'], result])).toEqual([
      ...good.map(([written]) => [written, 'loaded']),
      ...bad,
    ]);
    expect(await landing.events('clicks', 'clicked_at')).toEqual(good.map(([, moment]) => ({ clicked_at: moment })));
    const days = await landing.query(
      "SELECT DISTINCT day, strftime(first_at, '%Y-%m-%d') AS first, strftime(last_at, '%Y-%m-%d') AS last FROM event_files",
    );
    expect(days.filter(({ day, first, last }) => day !== first || day !== last)).toEqual([]);
  });

  it('24 hours ahead are counted from the wall clock, whatever the run is as of', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [
      click('in', { clicked_at: '2026-11-19T12:00:00Z' }),
      click('out', { clicked_at: '2026-11-19T12:00:00.000001Z' }),
    ]);
    await landing.ingest({ asOf: '2020-01-01T00:00:00Z', wallClock: at });
    await landing.put('clicks/b.ndjson', [click('later', { clicked_at: '2030-01-01T00:00:00Z' })]);
    await landing.ingest({ asOf: '2030-01-01T00:00:00Z', wallClock: at });
    expect(await landing.ids('clicks')).toEqual(['in']);
  });

  it('without an offset are understood by an offset that the configuration names for the log', async () => {
    const settings = { ...defaultSettings, logs: { clicks: { time_zone: '+02:00' }, conversions: {} } };
    const { results, landing } = await outcomes(
      'clicks',
      ['2026-07-01T10:00:00', '2026-11-18 10:00:00.25', '2026-11-18T10:00:00Z', '2026-01-01T01:59:60'].map(
        (clicked_at, index) => click(`c${index}`, { clicked_at }),
      ),
      settings,
    );
    expect(results).toEqual(['loaded', 'loaded', 'loaded', 'loaded']);
    expect(await landing.events('clicks', 'clicked_at')).toEqual(
      [
        '2026-07-01T08:00:00Z',
        '2026-11-18T08:00:00.250000Z',
        '2026-11-18T10:00:00Z',
        '2025-12-31T23:59:59.999999Z',
      ].map((clicked_at) => ({ clicked_at })),
    );
  });

  it('without an offset are understood in the zone that the configuration names for the log', async () => {
    const settings = { ...defaultSettings, logs: { clicks: { time_zone: 'Europe/Berlin' }, conversions: {} } };
    const { results, landing } = await outcomes(
      'clicks',
      [
        click('a', { clicked_at: '2026-07-01T10:00:00' }),
        click('b', { clicked_at: '2026-11-18 10:00:00.25' }),
        click('c', { clicked_at: '2026-11-18T10:00:00Z' }),
        click('d', { clicked_at: '2026-11-18t10:00:00' }),
        click('e', { clicked_at: '2026-02-29T10:00:00' }),
        click('f', { clicked_at: '2026-11-18' }),
        click('g', { clicked_at: '2017-01-01T00:59:60' }),
        click('h', { clicked_at: '2016-12-31T23:59:60' }),
      ],
      settings,
    );
    expect(results).toEqual([
      'loaded',
      'loaded',
      'loaded',
      'loaded',
      'bad_clicked_at',
      'bad_clicked_at',
      'loaded',
      'bad_clicked_at',
    ]);
    expect(
      (await landing.events<{ clicked_at: string }>('clicks', 'clicked_at')).map(({ clicked_at }) => clicked_at),
    ).toEqual([
      '2026-07-01T08:00:00Z',
      '2026-11-18T09:00:00.250000Z',
      '2026-11-18T10:00:00Z',
      '2026-11-18T09:00:00Z',
      '2016-12-31T23:59:59.999999Z',
    ]);
    await landing.put('conversions/a.ndjson', [conversion('x', { occurred_at: '2026-11-18T10:00:00' })]);
    await landing.ingest({ settings });
    expect(await landing.rejects()).toContain('conversions/a.ndjson:1 timestamp_without_offset');
  });
});

describe('descriptive values', () => {
  it('that make no sense become null and are counted; the row stays', async () => {
    const { results, landing } = await outcomes('clicks', [
      click('a', { country: 'de', device: 'Android' }),
      click('b', { country: 'ZZ', device: 'fridge' }),
      click('c', { country: 'DEU' }),
      click('d', { country: 5, device: true }),
      click('e', { country: '', device: ['ios'] }),
      click('f', { country: null, device: null }),
      click('g', { device: 'ios', country: 'US', ip: '::1', user_agent: 'Mozilla', sub1: 'é', sub2: 7 }),
    ]);
    expect(new Set(results)).toEqual(new Set(['loaded']));
    expect(
      (await landing.events('clicks', `concat_ws('|', country, device, ip, user_agent, sub1, sub2) AS described`)).map(
        ({ described }) => described,
      ),
    ).toEqual(['DE|android', '', '', '', '', '', 'US|ios|::1|Mozilla|é|7']);
    expect(await landing.warnings()).toEqual([
      'clicks/a.ndjson bad_country country 4',
      'clicks/a.ndjson bad_device device 3',
    ]);
    expect(await landing.query('SELECT warnings FROM ingest_files')).toEqual([{ warnings: 7 }]);
  });

  it('half a surrogate becomes U+FFFD, whole pairs and what merely looks like one stay', async () => {
    const sub = (id: string, json: string, more = '') => clickText(id, /}$/, `,"sub1":"${json}"${more}}`);
    const { results, landing } = await outcomes('clicks', [
      sub('a', '\\ud83d'),
      sub('b', 'x\\uDE00y'),
      sub('c', '\\ud83d\\ude00'),
      sub('d', '\\ud83d\\ud83d\\ude00\\ude00'),
      sub('e', '\\\\ud83d'),
      sub('f', '\\\\\\ud83d'),
      sub('g', '\\ud83dude00'),
      sub('h', '😀\\ud83d\\n\\u00e9'),
      sub('i', 'fine', ',"user_agent":"\\udfff","ip":"\\ud800","more":{"x":"\\ud800"},"\\ud800":1'),
      sub('j', 'fine', ',"country":"\\ud800"'),
    ]);
    expect(new Set(results)).toEqual(new Set(['loaded']));
    expect(
      (await landing.events('clicks', `concat_ws('|', sub1, user_agent, ip, country) AS texts`)).map(
        ({ texts }) => texts,
      ),
    ).toEqual([
      '\ufffd',
      'x\ufffdy',
      '😀',
      '\ufffd😀\ufffd',
      '\\ud83d',
      '\\\ufffd',
      '\ufffdude00',
      '😀\ufffd\né',
      'fine|\ufffd|\ufffd',
      'fine',
    ]);
    expect((await landing.warnings()).filter((warning) => !warning.includes('unknown_field'))).toEqual([
      'clicks/a.ndjson bad_country country 1',
      'clicks/a.ndjson half_surrogate 8',
    ]);
    await expectOutcomes('conversions', [
      [JSON.stringify(conversion('reason')).replace(/}$/, ',"reason":"\\ud800","payout":1.50}'), 'loaded'],
      [JSON.stringify(conversion('number')).replace(/}$/, ',"reason":"\\ud800","payout":1.5e1}'), 'loaded'],
      [`{"reason":"\\ud800"`, 'not_json_object'],
    ]);
  });

  it('half a surrogate in an identifier is refused, nobody can know which was meant', async () => {
    const named = (fields: object) =>
      JSON.stringify(click('x', { offer_id: undefined, source: 'net', external_id: 'x', ...fields })).replaceAll(
        'HALF',
        '\\ud800',
      );
    await expectOutcomes('clicks', [
      [named({ click_id: 'xHALF' }), 'bad_click_id'],
      [named({ user_id: 'HALF' }), 'bad_user_id'],
      [named({ site_key: 'sHALF' }), 'bad_site_key'],
      [named({ source: 'HALF' }), 'bad_source'],
      [named({ external_id: 'HALF' }), 'bad_external_id'],
      [named({ clicked_at: '2026-11-18T10:00:00ZHALF' }), 'bad_clicked_at'],
      [named({ click_id: 'whole', user_id: '\ufffd' }), 'loaded'],
    ]);
  });

  it('unknown fields are counted once per file, whatever is around them', async ({ landing }) => {
    await landing.put('clicks/compact.ndjson', [
      click('a', { x: 1 }),
      click('b', { x: 2, edge_version: '2.4' }),
      click('c'),
    ]);
    await landing.put('clicks/spaced.ndjson', [
      JSON.stringify(click('d', { y: null }), null, 1).replaceAll('\n', ' '),
      JSON.stringify(click('e'), null, 1).replaceAll('\n', ' '),
    ]);
    await landing.put('clicks/numbers.ndjson', [
      '{"click_id":1,"offer_id":7,"site_key":2,"user_id":3,"clicked_at":"2026-11-18T10:00:00Z","sub1":4,"sub2":5,"z":1}',
    ]);
    await landing.put('clicks/known.ndjson', [
      click('f', { sub1: '"quoted"', user_agent: '\\' }),
      click('g', { sub1: null }),
    ]);
    await landing.put(
      'conversions/a.csv',
      csv([
        { ...conversion('x'), note: 'n' },
        { ...conversion('y'), note: '' },
      ]),
    );
    await landing.put('conversions/b.json', JSON.stringify({ rows: [conversion('z', { nested: { payout: 5 } })] }));
    await landing.ingest();
    expect((await landing.warnings()).map((warning) => warning.replace(/ \d+$/, ''))).toEqual([
      'clicks/compact.ndjson unknown_field edge_version',
      'clicks/compact.ndjson unknown_field x',
      'clicks/numbers.ndjson unknown_field z',
      'clicks/spaced.ndjson unknown_field y',
      'conversions/a.csv unknown_field note',
      'conversions/b.json unknown_field nested',
    ]);
    expect(
      await landing.query('SELECT parse_filename(path) AS name, warnings FROM ingest_files ORDER BY path'),
    ).toEqual([
      { name: 'compact.ndjson', warnings: 2 },
      { name: 'known.ndjson', warnings: 0 },
      { name: 'numbers.ndjson', warnings: 1 },
      { name: 'spaced.ndjson', warnings: 1 },
      { name: 'a.csv', warnings: 1 },
      { name: 'b.json', warnings: 1 },
    ]);
  });
});

describe('conversions', () => {
  let id = 0;
  const paid = (json: string, more = '') =>
    JSON.stringify(conversion(`c${String(id++).padStart(3, '0')}`)).replace(/}$/, `,"payout":${json}${more}}`);

  it('payouts are numbers that six places hold exactly, read from their text', async () => {
    const taken: [json: string, payout: string | null, more?: string][] = [
      ['0', '0.000000'],
      ['0.1', '0.100000'],
      ['12.3400', '12.340000'],
      ['"12.3400"', '12.340000'],
      ['1.123456', '1.123456'],
      ['"1.123456"', '1.123456'],
      ['999999999.999999', '999999999.999999'],
      ['"999999999.999999"', '999999999.999999'],
      ['"007"', '7.000000'],
      ['null', null],
      [' 1.5 ', '1.500000'],
      ['1.5', '1.500000', ',"more":{"payout":9}'],
      ['1.5', '1.500000', ',"more":{"payout":1.5}'],
      ['2.5', '2.500000', ',"note":"\\"payout\\": 3"'],
      ['"2.5"', '2.500000', ',"more":{"payout":9}'],
      ['1e3', '1000.000000'],
      ['1.5e2', '150.000000'],
      ['"1e3"', '1000.000000'],
      ['"+5"', '5.000000'],
      ['0.30000000000000000', '0.300000'],
      ['".5"', '0.500000'],
      ['" 5"', '5.000000'],
    ];
    const refused: [json: string, more?: string][] = [
      ['1.1234567'],
      ['"1.1234567"'],
      ['-1'],
      ['"-1"'],
      ['-0'],
      ['"1_000"'],
      ['"1,000"'],
      ['1000000000'],
      ['"1000000000"'],
      ['1000000000.5'],
      ['0.3000000000000000001'],
      ['"0.3000000000000000001"'],
      ['"5."'],
      ['""'],
      ['"$5"'],
      ['"NaN"'],
      ['"Infinity"'],
      ['"0x5"'],
      ['true'],
      ['[1]'],
      ['{}'],
      ['{"payout":5}'],
      ['[1]', ',"more":{"payout":5}'],
      ['true', ',"more":{"payout":5}'],
      ['9'.repeat(5000)],
      ['0.3', ',"more":{"payout":0.3000000000000000001}'],
    ];
    const lines = [
      ...taken.map(([json, , more]) => paid(json, more)),
      ...refused.map(([json, more]) => paid(json, more)),
    ];
    const { results, landing } = await outcomes('conversions', lines);
    expect(results.map((result, index) => [lines[index]?.slice(0, 250), result])).toEqual(
      lines.map((line, index) => [line.slice(0, 250), index < taken.length ? 'loaded' : 'bad_payout']),
    );
    expect(await landing.events('conversions', 'payout')).toEqual(taken.map(([, payout]) => ({ payout })));
  });

  it('a payout that is no JSON number is refused', async () => {
    await expectOutcomes('conversions', [
      [paid('NaN'), 'not_json_object'],
      [paid('Infinity'), 'not_json_object'],
      [paid('1.'), 'not_json_object'],
      [paid('01'), 'not_json_object'],
      [paid('+1'), 'not_json_object'],
    ]);
  });

  it('kinds are spelled exactly; ids follow the same rules as those of clicks', async () => {
    await expectOutcomes('conversions', [
      [conversion('a', { kind: 'credit' }), 'loaded'],
      [conversion('a', { kind: 'reject', reason: 'fraud' }), 'loaded'],
      [conversion('a', { kind: 'chargeback' }), 'loaded'],
      [conversion('b', { kind: 'CREDIT' }), 'bad_kind'],
      [conversion('b', { kind: 'Credit' }), 'bad_kind'],
      [conversion('b', { kind: 'refund' }), 'bad_kind'],
      [conversion('b', { kind: ' credit' }), 'bad_kind'],
      [conversion('b', { kind: ['credit'] }), 'bad_kind'],
      [conversion('b', { kind: undefined }), 'missing_kind'],
      [conversion('c', { conversion_id: undefined }), 'missing_conversion_id'],
      [conversion('é'), 'bad_conversion_id'],
      [conversion('d', { click_id: null }), 'missing_click_id'],
      [conversion('d', { click_id: 'é' }), 'bad_click_id'],
      [conversion('e', { event_id: '' }), 'bad_event_id'],
      [conversion('e', { event_id: 5 }), 'loaded'],
      [conversion('f', { event_id: [5] }), 'bad_event_id'],
      [conversion('g', { occurred_at: '2026-11-18' }), 'bad_occurred_at'],
    ]);
  });
});

it('raw text is kept as it stood, with whatever it holds', async () => {
  const lines = [
    '{"click_id": "a\u0000", \'"\\ü🎮',
    '\u0000',
    'a\u0002\u001fb',
    '{"a":"\\ud83c"}',
    '{}\ufeff',
    "'; DROP TABLE rejects",
    '{"reject":{"line":5},"raw":null}',
    '\u2028',
    '\t',
    '\u0085',
  ];
  const { results, landing } = await outcomes('clicks', lines);
  expect(results.filter((result) => result === 'loaded')).toEqual([]);
  expect(
    ndjson(
      await landing
        .query<{ raw: string }>('SELECT raw FROM rejects ORDER BY line')
        .then((rows) => rows.map(({ raw }) => raw)),
    ),
  ).toBe(ndjson(lines));
});
