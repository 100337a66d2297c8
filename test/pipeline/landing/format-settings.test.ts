import { describe, expect, it } from 'vitest';
import { isDateFormat, numberText } from '../../../src/kit/intake/reading/workbook/cell-text.ts';
import { fileCure } from '../../../src/pipeline/inspect/file-cure.ts';
import { linesOfFile } from '../../support/lines-of-file.ts';
import { workbookOf } from '../../support/packed-files.ts';

const parse = (lines: readonly string[]) => lines.map((line) => (line === '' ? null : (JSON.parse(line) as unknown)));

describe('settings of a text', () => {
  it.each([
    ['windows-1252', Buffer.from([0x7a, 0x6f, 0xeb, 0x80])],
    ['cp850', Buffer.from([0x7a, 0x6f, 0x89])],
    ['shift_jis', Buffer.from([0x83, 0x5c, 0x41])],
    ['UTF-16LE', Buffer.from('zoë', 'utf16le')],
  ])('name its encoding %s', async (encoding, text) => {
    const comma = encoding === 'UTF-16LE' ? Buffer.from(',', 'utf16le') : Buffer.from(',');
    const ascii = (part: string) => (encoding === 'UTF-16LE' ? Buffer.from(part, 'utf16le') : Buffer.from(part));
    const bytes = Buffer.concat([ascii('click_id,sub1\n'), ascii('a'), comma, text, ascii('\n')]);
    const shown = { 'windows-1252': 'zoë€', cp850: 'zoë', shift_jis: 'ソA', 'UTF-16LE': 'zoë' }[encoding];
    expect(parse((await linesOfFile(bytes, { settings: { encoding } })).lines)).toEqual([
      { click_id: 'a', sub1: shown },
    ]);
  });

  it.each([
    ['shift_jis', Buffer.from('click_id\n\u0081', 'latin1'), 'bad_encoding'],
    ['utf-16le', Buffer.from([0x61, 0x00, 0x00, 0xd8, 0x61, 0x00]), 'bad_encoding'],
    ['klingon', Buffer.from('click_id\n'), 'unknown_encoding'],
  ])('that is not that of the bytes quarantines it: %s', async (encoding, bytes, reason) => {
    expect((await linesOfFile(bytes, { settings: { encoding } })).problem?.reason).toBe(reason);
  });

  it('a byte order mark counts more than the encoding that is named', async () => {
    const read = await linesOfFile('\ufeffclick_id\nzoë\n', { settings: { encoding: 'latin1' } });
    expect(parse(read.lines)).toEqual([{ click_id: 'zoë' }]);
  });

  it.each([
    ['a delimiter', 'click_id^sub,1\na^b\n', { delimiter: '^' }, 2, { click_id: 'a', 'sub,1': 'b' }],
    ['names for want of a header', 'a;b\n', { header: ['click_id', 'theirs'] }, 1, { click_id: 'a', theirs: 'b' }],
    [
      'names for want of a header behind lines',
      'x\ny\na;b\n',
      { skip: 2, header: ['Click-Id', 'b'] },
      3,
      { click_id: 'a', b: 'b' },
    ],
    ['lines before the header', 'Report\n"of, today"\nclick_id;b\na;1\n', { skip: 2 }, 4, { click_id: 'a', b: '1' }],
    ['the row of the header', 'Report\r\n\r\nclick_id;b\r\na;1\r\n', { header: 3 }, 4, { click_id: 'a', b: '1' }],
    ['comments before the header', '# a, b\n\n#c\nclick_id\tb\n#1\t2\n', { skip: '#' }, 5, { click_id: '#1', b: '2' }],
  ])('give it %s', async (_what, text, settings, firstRow, record) => {
    const read = await linesOfFile(text, { settings });
    expect([read.problem, read.firstRow, parse(read.lines)]).toEqual([undefined, firstRow, [record]]);
    const packed = await linesOfFile(Buffer.from(`\ufeff${text}`, 'utf16le'), { settings });
    expect([packed.firstRow, packed.lines]).toEqual([firstRow, read.lines]);
  });

  it('name the columns of a header in which one has no name, as its cure says', async () => {
    const text = ',click_id\n0,a\n';
    const { problem } = await linesOfFile(text);
    const [, format = ''] = /as in (\{"skip".*?\})/.exec(fileCure(problem?.reason ?? '')) ?? [];
    const read = await linesOfFile(text, { settings: JSON.parse(format) as object });
    expect(parse(read.lines)).toEqual([{ row: '0', click_id: 'a' }]);
  });

  it.each([
    ['Report\n\nclick_id\na\n', { header: 5 }],
    ['Report\n\n\n\n\n', { header: 3 }],
    ['Report\nclick_id\n', { skip: 2 }],
    ['# a\n# b\n', { skip: '#' }],
    ['# a\n'.repeat(40_000), { skip: '#' }],
  ])('that lead past its end quarantine it: %#', async (text, settings) => {
    expect((await linesOfFile(text, { settings })).problem?.reason).toBe('bad_header');
  });

  it.each([
    ['', { header: 5 }],
    ['\n\n', { header: 5 }],
    ['\n\n', { skip: '#' }],
    ['Report\n', { skip: 1, header: ['click_id'] }],
    ['Report\nclick_id\n', { header: 2 }],
  ])('find no rows in a text that has none: %j, %j', async (text, settings) => {
    const read = await linesOfFile(text, { settings });
    expect([read.problem, read.lines]).toEqual([undefined, []]);
  });
});

describe('the place of records in JSON', () => {
  it.each<[text: string, records: string, found: unknown[] | string]>([
    ['{"data": {"items": [{"a": 1.50}, {"a": 2}], "other": [1]}, "more": []}', 'data.items', [{ a: 1.5 }, { a: 2 }]],
    ['{"data": {"7": {"a": 1}, "8": {"a": 2}}}', 'data', [{ a: 1 }, { a: 2 }]],
    ['{"data.items": [{"a": 1}], "data": 1}', 'data.items', [{ a: 1 }]],
    ['[{"rows": [{"a": 1}]}, {"rows": [{"a": 2}]}]', 'rows', [{ a: 1 }, { a: 2 }]],
    ['{"rows": [{"a": 1}]}\n{"rows": null}\n{"rows": [{"a": 2}]}\n', 'rows', [{ a: 1 }, { a: 2 }]],
    ['{"\\u0072ows": [[1], 2]}', 'rows', [[1], 2]],
    ['{"rows": []}', 'rows', []],
    ['{"error": "denied"}', 'rows', 'no_records'],
    ['{"rows": "denied"}', 'rows', 'no_records'],
    ['{"rows": [{"a": 1}', 'rows', 'broken_json'],
  ])('%s at %s', async (text, records, found) => {
    const read = await linesOfFile(text, { name: 'a.json', settings: { records } });
    expect(read.problem?.reason ?? parse(read.lines)).toEqual(found);
  });
});

describe('the place of records in XML', () => {
  const document = `<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- an export -->
<feed total="2"><offers>
  <offer id="7"><name>Zo\u00eb &amp; Co</name><geo>DE</geo><geo>AT</geo><empty/><price currency="EUR">1.50</price></offer>
  <offer id="8"><name><![CDATA[<b>bold</b>]]></name><geo><code>DE</code></geo></offer>
</offers></feed>`;
  const found = [
    { '@id': '7', name: 'Zoë & Co', geo: ['DE', 'AT'], empty: null, price: { '@currency': 'EUR', '#text': '1.50' } },
    { '@id': '8', name: '<b>bold</b>', geo: { code: 'DE' } },
  ];

  it('is named by the elements that lead to it', async () => {
    const read = await linesOfFile(Buffer.from(document, 'latin1'), {
      name: 'a.xml',
      settings: { records: 'feed.offers.offer' },
    });
    expect([read.format, parse(read.lines)]).toEqual(['xml', found]);
    // A byte order mark counts more than the declaration.
    for (const encoding of ['utf16le', 'utf8'] as const) {
      const marked = await linesOfFile(Buffer.from(`\ufeff${document}`, encoding), {
        settings: { records: 'feed.offers.offer' },
      });
      expect(parse(marked.lines), encoding).toEqual(found);
    }
  });

  it.each([
    [document.slice(0, -20), 'feed.offers.offer', 'broken_xml'],
    ['<a><b></a>', 'a.b', 'broken_xml'],
    ['<a>'.repeat(300_000), 'feed.offers.offer', 'line_too_long'],
    [document, undefined, 'no_records'],
    [document, 'Feed.offers.offer', 'no_records'],
    [document, 'offers.offer', 'no_records'],
    [document, 'offer', 'no_records'],
    [document, 'feed.offers.offer.nick.b', 'no_records'],
  ])('%.20s at %s', async (text, records, reason) => {
    expect((await linesOfFile(Buffer.from(text, 'latin1'), { settings: { records } })).problem?.reason).toBe(reason);
  });
});

it.each([
  ['<feed total="0"><offers/></feed>', 'feed.offers.offer', []],
  ['<feed total="0"/>', 'feed.offer', []],
  ['<feed total="0"/>', 'feed', [{ '@total': '0' }]],
])('XML may have a list without records: %s at %s', async (text, records, found) => {
  const read = await linesOfFile(text, { name: 'a.xml', settings: { records } });
  expect(read.problem?.reason ?? parse(read.lines)).toEqual(found);
});

describe('workbooks', () => {
  const sheet = [
    ['Report', null],
    null,
    ['Click ID', 'amount', 'when', 'ok', 'note'],
    ['a', { number: '1.1000000000000001' }, { day: '46344.416666666664' }, { boolean: true }, ' x <&> '],
    null,
    [null, null, null, null, null],
    ['b', { number: '0.30000000000000004' }, { day: '46344' }, null, '\\N'],
    ['c', { number: '17' }, { day: '59' }, null, null, 'beyond'],
    ['d', { number: '1E-3' }, null, null, null],
  ] as const;
  const records = [
    { click_id: 'a', amount: '1.1', when: '2026-11-18T10:00:00', ok: 'true', note: ' x <&> ' },
    null,
    null,
    { click_id: 'b', amount: '0.30000000000000004', when: '2026-11-18T00:00:00', ok: null, note: null },
    ['c', '17', '1900-02-28T00:00:00', '', '', 'beyond'],
    { click_id: 'd', amount: '1E-3', when: null, ok: null, note: null },
  ];

  it('keep the numbers of their rows, the digits of their numbers, and moments without a zone', async () => {
    const read = await linesOfFile(workbookOf({ Data: sheet }), { settings: { header: 3 } });
    expect([read.format, read.firstRow, read.columns]).toEqual([
      'xlsx',
      4,
      ['click_id', 'amount', 'when', 'ok', 'note'],
    ]);
    expect(parse(read.lines)).toEqual(records);
  });

  it.each(['Data', 2])('have the sheet that is named, %s', async (name) => {
    const bytes = workbookOf({ First: [['x']], Data: sheet });
    expect(parse((await linesOfFile(bytes, { settings: { sheet: name, skip: 2 } })).lines)).toEqual(records);
  });

  it('have texts and styles where their relations say, however the members are called', async () => {
    const parts = { sharedStrings: 'xl/SharedStrings.xml', styles: 'xl/parts/style-1.xml' };
    const bytes = workbookOf({ Data: sheet }, false, parts);
    expect(parse((await linesOfFile(bytes, { settings: { header: 3 } })).lines)).toEqual(records);
  });

  it('are read at once, whatever is in place of a number and of its format', () => {
    const odd = `${'e'.repeat(500_000)}\n1`;
    expect(numberText(odd)).toBe(odd);
    expect(isDateFormat(164, '['.repeat(500_000))).toBe(false);
    expect(isDateFormat(164, `${'"'.repeat(252)}yyy`)).toBe(true);
  });

  it('count days as they say', async () => {
    const bytes = workbookOf({ S: [['click_id'], [{ day: '44882.5' }]] }, true);
    expect(parse((await linesOfFile(bytes)).lines)).toEqual([{ click_id: '2026-11-18T12:00:00' }]);
  });

  it.each([
    [workbookOf({ Data: sheet }), { sheet: 'None' }, 'no_such_sheet'],
    [workbookOf({ Data: [['a', null, 'b']] }), {}, 'bad_header'],
    [workbookOf({ Data: sheet }).subarray(0, -200), {}, 'broken_zip'],
    [workbookOf({ Cover: [], Data: sheet }), {}, 'bad_header'],
    [workbookOf({ Cover: [null, [null, null]], Data: sheet }), { header: 3 }, 'bad_header'],
    [workbookOf({ Data: sheet }), { header: 10 }, 'bad_header'],
    [workbookOf({ Data: sheet.slice(0, 1) }), { skip: 'Rep' }, 'bad_header'],
    [
      workbookOf(
        {
          Data: [
            ['click_id', 'sub1'],
            ['a', 'zoë'],
          ],
        },
        false,
        {},
        'latin1',
      ),
      {},
      'broken_xlsx',
    ],
  ])('that cannot be read are refused by name', async (bytes, settings, reason) => {
    expect((await linesOfFile(bytes, { settings })).problem?.reason).toBe(reason);
  });

  it('that have nothing but a blank sheet have no rows', async () => {
    const read = await linesOfFile(workbookOf({ Data: [null, [null]] }));
    expect([read.problem, read.lines]).toEqual([undefined, []]);
  });
});
