import { appendFileSync } from 'node:fs';
import { appendFile, readFile, rename, stat, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { checkFile } from '../../../../src/pipeline/landing/files/check-files.ts';
import { findLandingFiles } from '../../../../src/pipeline/landing/files/find-files.ts';
import { settingsSchema } from '../../../../src/kit/config/settings.ts';
import { fileCure } from '../../../../src/pipeline/inspect/file-cure.ts';
import { momentOfMilliseconds, shiftMoment } from '../../../../src/kit/time/moment.ts';
import { createLogger } from '../../../../src/kit/logging/log.ts';
import { it } from '../../../support/landing-test.ts';
import { click, conversion, csv, ndjson } from '../../../support/log-landing.ts';
import { parquet } from '../../../support/parquet.ts';
import { slow } from '../../../support/slow.ts';

const clicks = [click('a'), click('b')];
/** More than ten minutes before the runs. */
const longAgo = '2026-11-18T11:00:00Z';
const parquetOfClicks = `SELECT click_id, 7 AS offer_id, 's' AS site_key, 'u' AS user_id, TIMESTAMPTZ '2026-11-18 10:00:00+00' AS clicked_at`;

describe('formats', () => {
  it('reads every format of both logs, packed and plain', async ({ landing }) => {
    const logs = { clicks: (id: string) => click(id), conversions: (id: string) => conversion(id) };
    const texts: Record<string, (row: Record<string, unknown>) => string> = {
      json: (row) => JSON.stringify([row], null, 2),
      'object.json': (row) => JSON.stringify({ page: 1, rows: [row] }),
      ndjson: (row) => ndjson([row]),
      jsonl: (row) => `\ufeff${JSON.stringify(row)}\r\n\r\n`,
      csv: (row) => csv([row]),
    };
    for (const [kind, record] of Object.entries(logs)) {
      for (const [ending, write] of Object.entries(texts)) {
        await landing.put(`${kind}/deep/er/${ending}.${ending}`, write(record(`plain ${ending}`)));
        await landing.put(`${kind}/${ending}.${ending}.gz`, gzipSync(write(record(`packed ${ending}`))));
      }
    }
    await landing.put('clicks/p.parquet', await parquet(`${parquetOfClicks} FROM (SELECT 'parquet' AS click_id)`));
    await landing.put(
      'conversions/p.parquet',
      await parquet(
        `SELECT 'parquet' AS conversion_id, 'c1' AS click_id, 'credit' AS kind, '2026-11-18T10:30:00Z' AS occurred_at, 1.5::DECIMAL(9,2) AS payout`,
      ),
    );
    const expected = Object.keys(texts)
      .flatMap((ending) => [`packed ${ending}`, `plain ${ending}`])
      .concat('parquet')
      .toSorted();
    expect(await landing.ingest()).toMatchObject({ files: 22, quarantined: 0, rows: 22, accepted: 22 });
    expect(await landing.ids('clicks')).toEqual(expected);
    expect(await landing.ids('conversions')).toEqual(expected.map((id) => `${id} credit`));
    expect(await landing.rejects()).toEqual([]);
    expect(await landing.warnings()).toEqual([]);
  });

  it('joins the members of a gzip that was appended to', async ({ landing }) => {
    await landing.put(
      'clicks/a.ndjson.gz',
      Buffer.concat([gzipSync(ndjson([click('a')])), gzipSync(ndjson([click('b')]))]),
    );
    await landing.ingest();
    expect(await landing.ids('clicks')).toEqual(['a', 'b']);
  });

  it.for([
    ['ndjson', 'csv'],
    ['json', 'parquet'],
  ])('files of no bytes are loaded with no rows: %s, %s', async ([one, other], { landing }) => {
    await landing.put(`clicks/a.${one}`, '');
    await landing.put(`conversions/a.${other}`, '');
    await landing.put('clicks/b.ndjson', clicks);
    await landing.ingest();
    expect(await landing.ledger()).toEqual([
      `clicks/a.${one} loaded 0=0+0+0`,
      'clicks/b.ndjson loaded 2=2+0+0',
      `conversions/a.${other} loaded 0=0+0+0`,
    ]);
  });

  it('files without a row are loaded with no rows', async ({ landing }) => {
    const header = 'click_id,offer_id,site_key,user_id,clicked_at';
    const empty: Record<string, string | Uint8Array> = {
      'blank.ndjson': '\n\n  \n',
      'mark.ndjson': '\ufeff',
      'packed.ndjson.gz': gzipSync('', { level: 1 }),
      'blank.csv': '\ufeff\r\n',
      'packed.csv.gz': gzipSync('', { level: 9 }),
      'header.csv': header,
      'header-line.csv': `${header}\r\n`,
      'array.json': '[]',
      'object.json': '{"x":[]}',
      'mark.json': '\ufeff\n',
      'packed.json.gz': gzipSync('[ ]'),
      'packed-nothing.json.gz': gzipSync(''),
    };
    for (const [name, content] of Object.entries(empty)) await landing.putAt(`clicks/${name}`, content, longAgo);
    await landing.put(
      'clicks/table.parquet',
      await parquet(`${parquetOfClicks} FROM (SELECT '' AS click_id) WHERE false`),
    );
    await landing.ingest();
    expect((await landing.ledger()).toSorted()).toEqual(
      [...Object.keys(empty), 'table.parquet'].map((name) => `clicks/${name} loaded 0=0+0+0`).toSorted(),
    );
  });
});

describe('quarantine', () => {
  const packed = gzipSync(ndjson(Array.from({ length: 50 }, (_, index) => click(`packed-${index * 7919}`))));
  const flipped = Buffer.from(packed);
  flipped.writeUInt8(flipped.readUInt8(flipped.length - 6) ^ 1, flipped.length - 6);
  const good = csv(clicks);

  const broken: [what: string, ending: string, content: string | Uint8Array, reason: string][] = [
    ['a truncated gzip', 'ndjson.gz', packed.subarray(0, -9), 'broken_gzip'],
    ['a gzip cut in its header', 'csv.gz', packed.subarray(0, 5), 'broken_gzip'],
    ['a gzip of no bytes', 'json.gz', '', 'broken_gzip'],
    ['a gzip whose checksum is wrong', 'ndjson.gz', flipped, 'broken_gzip'],
    ['something behind a gzip', 'ndjson.gz', Buffer.concat([packed, Buffer.from('more')]), 'broken_gzip'],
    ['bad UTF-8', 'ndjson', Buffer.concat([Buffer.from(ndjson(clicks)), Buffer.from([0xff, 0x0a])]), 'bad_utf8'],
    ['a character cut at the end', 'csv', Buffer.concat([Buffer.from(good), Buffer.from([0xc3])]), 'bad_utf8'],
    ['bad UTF-8 in a gzip', 'json.gz', gzipSync(Buffer.from([0x5b, 0x22, 0x80, 0x22, 0x5d])), 'bad_utf8'],
    ['UTF-16 without a mark', 'ndjson', Buffer.from(`${ndjson(clicks)}ÿ`, 'utf16le'), 'bad_utf8'],
    ['a broken document', 'json', JSON.stringify(clicks).slice(0, -1), 'broken_json'],
    [
      'lines of a list, commas and all',
      'json',
      ndjson([click('y'), click('z')]).replaceAll('\n', ',\n'),
      'comma_behind_record',
    ],
    ['a document with no array', 'json', '{"a":{"b":[]}}', 'no_single_array'],
    ['a document with two arrays', 'json', '{"a":[],"b":[]}', 'no_single_array'],
    ['a scalar', 'json.gz', gzipSync('5'), 'no_single_array'],
    [
      'XML of an encoding that nobody has',
      'csv',
      '<?xml version="1.0" encoding="utf-16xx"?><a/>\n',
      'unknown_encoding',
    ],
    ['XML of an encoding by a word of JavaScript', 'csv', '<?xml encoding="constructor"?><a/>\n', 'unknown_encoding'],
    ['an open quote', 'csv', `${good}c,7,"s,u,2026-11-18T10:00:00Z\nd,7,s,u,2026-11-18T10:00:00Z\n`, 'broken_csv'],
    ['an open quote at the end', 'csv', `${good}c,7,s,u,"2026-11-18T10:00:00Z\n`, 'broken_csv'],
    ['text behind a quote', 'csv', `${good}c,7,"s"x,u,2026-11-18T10:00:00Z\n`, 'broken_csv'],
    ['rows without a header', 'csv', good.slice(good.indexOf('\n') + 1), 'missing_column'],
    ['a header without a required column', 'csv', 'click_id,offer_id,site_key,user_id\na,7,s,u\n', 'missing_column'],
    ['a header that names a column twice', 'csv', 'click_id,site_key,user_id,clicked_at,user_id\n', 'bad_header'],
    ['a header with an unnamed column', 'csv', 'click_id,site_key,,user_id,clicked_at\n', 'bad_header'],
    ['text that claims to be Parquet', 'parquet', 'not PAR1', 'missing_column'],
    [
      'nothing between the marks of Parquet',
      'parquet',
      Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(64, 7), Buffer.from('PAR1')]),
      'not_parquet',
    ],
  ];

  it('nothing of a broken file is loaded, the others go on', async ({ landing }) => {
    for (const [what, ending, content] of broken) await landing.putAt(`clicks/${what}.${ending}`, content, longAgo);
    await landing.put('clicks/b.ndjson', clicks);
    await landing.put('conversions/c.ndjson', [conversion('x')]);
    expect(await landing.ingest()).toMatchObject({
      files: broken.length + 2,
      quarantined: broken.length,
      rows: 3,
      accepted: 3,
    });
    expect((await landing.ledger()).toSorted()).toEqual(
      [
        ...broken.map(([what, ending, , reason]) => `clicks/${what}.${ending} quarantined ${reason} 0=0+0+0`),
        'clicks/b.ndjson loaded 2=2+0+0',
        'conversions/c.ndjson loaded 1=1+0+0',
      ].toSorted(),
    );
    expect(await landing.ids('clicks')).toEqual(['a', 'b']);
    expect(await landing.query('SELECT * FROM rejects')).toEqual([]);
    expect(
      await landing.query(`SELECT reason FROM ingest_files WHERE contains(reason, '${landing.data.root}')`),
      'names of this machine',
    ).toEqual([]);
    expect(await landing.ingest(), 'what was quarantined is no news any more').toMatchObject({
      files: 0,
      quarantined: 0,
    });
  });

  it('a name or a mark in a line that no parser of JSON takes rejects its line', async ({ landing }) => {
    const odd = ['{"~raw":', String.raw`{"\q":1}`, '{"a\tb":1}'];
    for (const [index, line] of odd.entries()) {
      await landing.put(`clicks/${index}.ndjson`, `${line}\n`);
      await landing.put(`clicks/${index}-behind.ndjson`, `${JSON.stringify(click(`c${index}`))}\n${line}\n`);
    }
    await landing.ingest();
    expect(await landing.ids('clicks')).toEqual(['c0', 'c1', 'c2']);
    expect(await landing.query(`SELECT DISTINCT reason FROM rejects`)).toEqual([{ reason: 'not_json_object' }]);
    expect(await landing.query(`SELECT raw FROM rejects WHERE ends_with(path, 'behind.ndjson') ORDER BY path`)).toEqual(
      odd.map((raw) => ({ raw })),
    );
  });

  it('half a surrogate in a mapped record that is rejected ends no run', async ({ landing }) => {
    const fields = { click_id: 'id', offer_id: 'offer', site_key: 'site', user_id: 'user', clicked_at: 't' };
    const settings = settingsSchema.parse({ files: [{ match: 'clicks/m/**', fields }] });
    const row = { site: 's', user: 'u', offer: 7, t: '2026-11-18T10:00:00Z' };
    await landing.put('clicks/m/a.ndjson', [
      { id: 'a', ...row },
      { id: '\ud800', ...row },
    ]);
    await landing.ingest({ settings });
    expect(await landing.rejects()).toEqual(['clicks/m/a.ndjson:2 bad_click_id']);
  });

  it('ledger and log say what is wrong where, of a catalog as of a log', async ({ landing }) => {
    const logged: string[] = [];
    const logger = createLogger({ write: (line: string) => logged.push(line) > 0 }, 'info');
    const settings = settingsSchema.parse({
      files: [{ match: 'offers/feed/**', format: { records: 'offers.offer' } }],
    });
    const quoted = 'external_id,title,payout\na,"one",1\nb,"two"x,1\n';
    const feed = '<offers><offer><external_id>a</external_id><title>One&nbsp;two</title></offer></offers>';
    await landing.putAt('offers/a/o.csv', 'name,title,payout\na,one,1\n', longAgo);
    await landing.putAt('offers/c/o.csv', quoted, longAgo);
    await landing.putAt('offers/feed/o.xml', feed, longAgo);
    await landing.putAt('clicks/c.csv', quoted, longAgo);
    expect(await landing.ingest({ logger, settings })).toMatchObject({ files: 4, quarantined: 4 });
    const entries = await landing.query<{ path: string; reason: string }>('SELECT path, reason FROM ingest_files');
    const ledger = new Map(entries.map(({ path, reason }) => [path, reason]));
    expect(ledger.get('offers/a/o.csv')).toMatch(/^missing_column: .*external_id.*name, title, payout/);
    expect(ledger.get('offers/c/o.csv')).toMatch(/^broken_csv: row 3: /);
    expect(ledger.get('offers/c/o.csv')).toBe(ledger.get('clicks/c.csv'));
    expect(ledger.get('offers/feed/o.xml')).toMatch(/^broken_xml: .*1:\d+: undefined entity/);
    const warnings = logged.map((line) => JSON.parse(line) as Record<string, string>);
    for (const [file, reason] of ledger) {
      const { reason: code, detail, msg } = warnings.find((warning) => warning['file'] === file) ?? {};
      expect(`${code}: ${detail}`, file).toBe(reason);
      expect(msg, file).toContain(`quarantined, nothing of this file was loaded: ${fileCure(reason)}`);
    }
    expect(fileCure('broken_xml')).toContain('&nbsp;');
  });

  it('damaged Parquet, in the middle or at its end, or of something else', async ({ landing }) => {
    const whole = await parquet(`${parquetOfClicks} FROM (SELECT 'p' || range AS click_id FROM range(3000))`);
    const damaged = Buffer.from(whole);
    for (let at = 20; at < 60; at++) damaged.writeUInt8(damaged.readUInt8(at) ^ 0x5a, at);
    await landing.put('clicks/damaged.parquet', damaged);
    await landing.put('clicks/truncated.parquet', whole.subarray(0, -40));
    await landing.put('clicks/other.parquet', await parquet('SELECT 1 AS click_id, 2 AS site_key'));
    await landing.put('offers/net/damaged.parquet', damaged);
    await landing.put('clicks/b.ndjson', clicks);
    await landing.put('clicks/whole.parquet', whole);
    await landing.ingest();
    expect((await landing.ledger()).toSorted()).toEqual([
      'clicks/b.ndjson loaded 2=2+0+0',
      'clicks/damaged.parquet quarantined not_parquet 0=0+0+0',
      'clicks/other.parquet quarantined missing_column 0=0+0+0',
      'clicks/truncated.parquet quarantined not_parquet 0=0+0+0',
      'clicks/whole.parquet loaded 3000=3000+0+0',
      'offers/net/damaged.parquet quarantined missing_column 0=0+0+0',
    ]);
  });

  it('lines beyond any sense, but not merely long ones', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [click('a', { user_agent: 'x'.repeat(9_000_000) }), click('b')]);
    await landing.put('clicks/b.ndjson', [click('c'), click('d', { user_agent: 'x'.repeat(17_000_000) })]);
    await landing.put('clicks/c.json', JSON.stringify([click('e', { user_agent: 'x'.repeat(17_000_000) })]));
    await landing.ingest();
    expect((await landing.ledger()).toSorted()).toEqual([
      'clicks/a.ndjson loaded 2=2+0+0',
      'clicks/b.ndjson quarantined line_too_long 0=0+0+0',
      'clicks/c.json quarantined line_too_long 0=0+0+0',
    ]);
  });

  it('no list or object within a line, however long; rows are rejected as with short ones', async ({ landing }) => {
    const many = Array.from({ length: 50_000 }, () => 0);
    const text = '"]}\\';
    for (const [day, zeros] of [[], many].entries()) {
      await landing.put(`clicks/${day}.ndjson`, [
        click(`a${day}`, { other: [text, ...zeros], more: { text, zeros }, last: text }),
        click(`b${day}`, { user_id: [text, ...zeros] }),
        click(`c${day}`, { user_id: { text, zeros } }),
        JSON.stringify(click(`d${day}`, { other: [...zeros, 0] })).replace('0]', '0,]'),
        JSON.stringify(click(`e${day}`, { other: [...zeros, 0] })).replace('0]', '0}'),
        JSON.stringify([click(`f${day}`, { other: [...zeros, 0] })]),
      ]);
    }
    // A list of 8 million numbers is 16 MB of text, and more than a gigabyte where it is parsed again and again.
    await landing.put('clicks/2.ndjson', [
      click('g'),
      JSON.stringify(click('h', {})).replace('{', `{"other":[0${',0'.repeat(8_000_000)}],`),
    ]);
    await landing.ingest();
    expect(await landing.ledger()).toEqual([
      'clicks/0.ndjson loaded 6=1+0+5',
      'clicks/1.ndjson loaded 6=1+0+5',
      'clicks/2.ndjson loaded 2=2+0+0',
    ]);
    const reasons = ['bad_user_id', 'bad_user_id', 'not_json_object', 'not_json_object', 'not_json_object'];
    expect(await landing.rejects()).toEqual(
      [0, 1].flatMap((day) => reasons.map((reason, index) => `clicks/${day}.ndjson:${index + 2} ${reason}`)),
    );
    const [shown] = await landing.query<{ raw: string }>(
      "SELECT raw FROM rejects WHERE path LIKE '%1.ndjson' AND line = 2",
    );
    expect(shown?.raw).toContain('"user_id":["100010 bytes"]');
    expect(await landing.warnings()).toEqual([
      ...[0, 1].flatMap((day) =>
        ['last', 'more', 'other'].map((name) => `clicks/${day}.ndjson unknown_field ${name} 1`),
      ),
      'clicks/2.ndjson unknown_field other 1',
    ]);
  });

  it('a million rows and more of which none fits, but not where one does', slow, async ({ landing }) => {
    // Of rows of commas alone a thousand are passed over.
    const commas = ',,,,\n'.repeat(1_001_001);
    await landing.put('clicks/a.csv', `click_id,offer_id,site_key,user_id,clicked_at\n${commas}`);
    // Blank lines are no rows; a line of more blanks than a blank line has is one.
    await landing.put('clicks/b.ndjson.gz', gzipSync(`\n${' '.repeat(70)}\n${`{}\n`.repeat(1_000_000)}`));
    // As many bytes as a million rows take at least.
    await landing.put('clicks/c.ndjson', `${`{}${' '.repeat(97)}\n`.repeat(20_000)}${JSON.stringify(click('a'))}\n`);
    await landing.ingest();
    expect((await landing.ledger()).toSorted()).toEqual([
      'clicks/a.csv quarantined no_row_fits 0=0+0+0',
      'clicks/b.ndjson.gz quarantined no_row_fits 0=0+0+0',
      'clicks/c.ndjson loaded 20001=1+0+20000',
    ]);
  });

  it('a log under a wrong ending counts, and once under whatever name', async ({ landing }) => {
    const path = await landing.put('clicks/a.json', clicks);
    await landing.ingest();
    await rename(path, path.replace(/json$/, 'ndjson'));
    await landing.ingest();
    await landing.put('clicks/copy.parquet', clicks);
    await landing.put('clicks/copy.csv.gz', clicks);
    await landing.ingest();
    expect(await landing.ledger()).toEqual(['clicks/a.json loaded 2=2+0+0']);
  });
});

describe('CSV whose last line has no end', () => {
  const header = 'conversion_id,click_id,kind,occurred_at,payout\n';
  const row = (id: string, payout: string) => `${id},c1,credit,2026-11-18T10:00:00Z,${payout}`;
  const torn = `${header}${row('a', '1')}\n${row('b', '125')}`;
  const offers = (count: number) =>
    `external_id,title,payout\n${Array.from({ length: count }, (_, index) => `x${index},Offer,12.11\n`).join('')}`;

  it('waits until it is ten minutes old, logged and not remembered; what is whole goes on', async ({ landing }) => {
    const logged: string[] = [];
    const logger = createLogger({ write: (line: string) => logged.push(line) > 0 }, 'info');
    await landing.putAt('conversions/a.csv', torn, '2026-11-18T11:50:00.001Z');
    await landing.putAt(
      'conversions/b.csv.gz',
      gzipSync(torn.replaceAll('a,', 'y,').replaceAll('b,', 'z,')),
      '2026-11-18T11:50:00.001Z',
    );
    await landing.putAt(
      'conversions/character.csv',
      Buffer.concat([Buffer.from(torn), Buffer.from([0xc3])]),
      '2026-11-18T11:59:00Z',
    );
    await landing.putAt('conversions/header.csv', header.trimEnd(), '2026-11-18T11:59:00Z');
    await landing.putAt('offers/net/a.csv', offers(20).slice(0, -2), '2026-11-18T11:59:00Z');
    await landing.putAt('conversions/whole.csv', `${header}${row('whole', '1')}\n`, '2026-11-18T11:59:59Z');
    expect(await landing.ingest({ logger })).toMatchObject({ files: 1, accepted: 1 });
    expect(
      logged
        .filter((line) => line.includes('its last line has no end'))
        .map((line) => (JSON.parse(line) as { file: string }).file)
        .toSorted(),
    ).toEqual([
      'conversions/a.csv',
      'conversions/b.csv.gz',
      'conversions/character.csv',
      'conversions/header.csv',
      'offers/net/a.csv',
    ]);
    expect(await landing.ingest({ wallClock: '2026-11-18T12:00:00.001Z' })).toMatchObject({
      files: 2,
      accepted: 2,
      rejected: 2,
    });
    expect(await landing.rejects()).toEqual([
      'conversions/a.csv:3 unterminated_row',
      'conversions/b.csv.gz:3 unterminated_row',
    ]);
    expect(await landing.query(`SELECT raw FROM rejects WHERE path = 'conversions/a.csv'`)).toEqual([
      { raw: '["b","c1","credit","2026-11-18T10:00:00Z","125"]' },
    ]);
    expect(await landing.ingest({ wallClock: '2026-11-18T13:00:00Z' })).toMatchObject({
      files: 3,
      quarantined: 1,
      rejected: 1,
    });
    expect((await landing.ledger()).filter((entry) => entry.includes('conversions/'))).toEqual([
      'conversions/whole.csv loaded 1=1+0+0',
      'conversions/a.csv loaded 2=1+0+1',
      'conversions/b.csv.gz loaded 2=1+0+1',
      'conversions/header.csv loaded 0=0+0+0',
      'conversions/character.csv quarantined bad_utf8 0=0+0+0',
    ]);
  });

  it('counts right once its writer is done, whether that was waited for or not', async ({ landing }) => {
    for (const [name, changedAt] of [
      ['waits', '2026-11-18T11:59:00Z'],
      ['taken', longAgo],
    ] as const) {
      const begun = torn.replaceAll(/^([ab]),/gm, `${name}-$1,`);
      await landing.putAt(`conversions/${name}.csv`, begun, changedAt);
      await landing.ingest();
      await landing.putAt(`conversions/${name}.csv`, `${begun}.75\n`, '2026-11-18T11:59:30Z');
    }
    await landing.ingest();
    expect(await landing.events('conversions', 'conversion_id, payout')).toEqual([
      { conversion_id: 'taken-a', payout: '1.000000' },
      { conversion_id: 'taken-b', payout: '125.750000' },
      { conversion_id: 'waits-a', payout: '1.000000' },
      { conversion_id: 'waits-b', payout: '125.750000' },
    ]);
    expect(await landing.query('SELECT sum(conflicts) AS conflicts FROM ingest_files')).toEqual([{ conflicts: 0 }]);
  });

  it('as a catalog removes nothing, and leaves the offer of its last row as it was', async ({ landing }) => {
    await landing.putAt('offers/net/a.csv', offers(20), '2026-11-18T10:00:00Z');
    await landing.ingest();
    await landing.putAt('offers/net/b.csv', offers(12).slice(0, -2), '2026-11-18T10:30:00Z');
    expect(await landing.ingest()).toMatchObject({ rows: 12, accepted: 11, rejected: 1, offerVersions: 0 });
    expect(await landing.rejects()).toEqual(['offers/net/b.csv:13 unterminated_row']);
    expect(await landing.warnings()).toEqual(['offers/net/b.csv truncated_export 1']);
  });

  it('with a modification time that is yet to come waits for ten minutes from now', async ({ landing }) => {
    await landing.putAt('conversions/a.csv', torn, '2030-01-01T00:00:00Z');
    const now = momentOfMilliseconds(Date.now());
    expect(await landing.ingest({ wallClock: now })).toMatchObject({ files: 0 });
    expect(await landing.ingest({ wallClock: shiftMoment(now, 601_000_000n) })).toMatchObject({ files: 1 });
  });
});

describe('names', () => {
  it('that mean something to the engine are names like any other', async ({ landing }) => {
    const names = [
      '*.ndjson',
      'a[1].ndjson',
      'a1.ndjson',
      'click_id=9/country=US/b.ndjson',
      'file_id=3/c.csv',
      "it's {a,b}.csv",
      'raw=1/path=2/d.ndjson',
      'x y%20.ndjson',
      '[ab]?.csv',
    ];
    for (const name of names)
      await landing.put(`clicks/${name}`, name.endsWith('.csv') ? csv([click(name)]) : [click(name)]);
    await landing.put(
      'clicks/country=XX/[ab].parquet',
      await parquet(`${parquetOfClicks} FROM (SELECT 'parquet' AS click_id)`),
    );
    await landing.ingest();
    expect(await landing.ids('clicks')).toEqual([...names, 'parquet'].toSorted());
    expect((await landing.ledger()).filter((entry) => !entry.endsWith(' loaded 1=1+0+0'))).toEqual([]);
    // Of Parquet folders are columns that the file lacks.
    expect(await landing.warnings()).toEqual(['clicks/country=XX/[ab].parquet bad_country country 1']);
  });

  it('the same bytes count once for each log, whatever they are called and whenever they come', async ({ landing }) => {
    const path = await landing.put('clicks/a.ndjson', clicks);
    await landing.put('clicks/b/copy.ndjson', clicks);
    await symlink(path, join(landing.data.landing, 'clicks/link.ndjson'));
    await landing.ingest();
    await landing.put('clicks/later.jsonl', clicks);
    await landing.put('conversions/same.ndjson', clicks);
    await rename(path, join(landing.data.landing, 'clicks/renamed.ndjson'));
    await landing.ingest();
    expect(await landing.ledger()).toEqual([
      'clicks/a.ndjson loaded 2=2+0+0',
      'conversions/same.ndjson loaded 2=0+0+2',
    ]);
  });

  it('new bytes under an old name are a new file, even of the same size and time', async ({ landing }) => {
    const path = await landing.put('clicks/a.ndjson', [click('a')]);
    const { atime, mtime } = await stat(path);
    await landing.ingest();
    await landing.put('clicks/a.ndjson', [click('b')]);
    await utimes(path, atime, mtime);
    await landing.ingest();
    await landing.put('clicks/a.ndjson', [click('a'), click('b'), click('c')]);
    await landing.ingest();
    expect(await landing.ledger()).toEqual([
      'clicks/a.ndjson loaded 1=1+0+0',
      'clicks/a.ndjson loaded 1=1+0+0',
      'clicks/a.ndjson loaded 3=1+2+0',
    ]);
  });
});

it.for(['clicks', 'conversions'] as const)('numbers %s by path, not by age', async (kind, { landing }) => {
  const times = { a: '2026-11-18T11:30:00Z', b: longAgo };
  for (const [name, time] of Object.entries(times)) {
    const path = await landing.put(`${kind}/${name}.ndjson`, [kind === 'clicks' ? click(name) : conversion(name)]);
    await utimes(path, new Date(time), new Date(time));
  }
  await landing.ingest();
  expect(await landing.ledger()).toEqual([`${kind}/a.ndjson loaded 1=1+0+0`, `${kind}/b.ndjson loaded 1=1+0+0`]);
});

it('reads a file whose time no BIGINT of nanoseconds holds, and others beside it', async ({ landing }) => {
  for (const [name, time] of Object.entries({ a: '1600-01-01T00:00:00Z', b: longAgo, c: '2300-01-01T00:00:00Z' })) {
    const path = await landing.put(`clicks/${name}.ndjson`, [click(name)]);
    await utimes(path, new Date(time), new Date(time));
  }
  await landing.ingest();
  expect(await landing.ledger()).toEqual(['a', 'b', 'c'].map((name) => `clicks/${name}.ndjson loaded 1=1+0+0`));
  expect((await landing.ingest()).files).toBe(0);
});

describe('landing files', () => {
  it('are never changed', async ({ landing }) => {
    const contents: Record<string, string | Buffer> = {
      'a.ndjson': `\ufeff${JSON.stringify(click('a'))}\r\nno JSON`,
      'b.csv': csv(clicks).replaceAll('\n', '\r\n'),
      'c.json.gz': gzipSync(JSON.stringify(clicks)),
      'd.json': '{',
    };
    const about = async () =>
      Promise.all(
        Object.keys(contents).map(async (name) => {
          const path = join(landing.data.landing, 'clicks', name);
          const { mtimeNs, ctimeNs, ino } = await stat(path, { bigint: true });
          return { name, mtimeNs, ctimeNs, ino, content: await readFile(path, 'base64') };
        }),
      );
    for (const [name, content] of Object.entries(contents)) await landing.put(`clicks/${name}`, content);
    const before = await about();
    await landing.ingest();
    expect(await about()).toEqual(before);
  });

  it('that change while they are read, or go away, wait', async ({ landing }) => {
    const growing = await landing.put('clicks/a.ndjson', clicks);
    await landing.put('clicks/b.ndjson', clicks);
    const { files } = await findLandingFiles(landing.data.landing);
    await appendFile(growing, '\n');
    await rename(join(landing.data.landing, 'clicks/b.ndjson'), join(landing.data.landing, 'clicks/_b.ndjson'));
    const checks = await Promise.all(
      files.map((file, index) => checkFile(file, { scratchPath: join(landing.data.scratch, `${index}`) })),
    );
    expect(checks.map(({ unstable }) => unstable)).toEqual([true, true]);
  });

  it('that change while they are read are taken up by the next run', async ({ landing }) => {
    const growing = await landing.put('clicks/a.ndjson', [click('a')]);
    await landing.put('clicks/b.ndjson', [click('b')]);
    // The listing is done when reading begins.
    const progress = {
      start: () => appendFileSync(growing, ndjson([click('c')])),
      advance: () => undefined,
      finish: () => undefined,
    };
    await landing.ingest({ progress });
    expect(await landing.ids('clicks')).toEqual(['b']);
    await landing.ingest();
    expect(await landing.ids('clicks')).toEqual(['a', 'b', 'c']);
  });
});
