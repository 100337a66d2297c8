import { mkdirSync, writeFileSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';

/*
 * Writes the workbook of `data/exports/workbook-statement`, as a spreadsheet program saves one: texts in a table of
 * their own, times as days since 1899-12-30 with a format, amounts with the 17 digits of a binary number, a formula.
 *
 * node src/launch.mjs test/e2e/exports/write-workbook.ts
 */

type Cell = string | { number: string; style?: 'time' } | { formula: string; value: string } | undefined;

/** Days of 2026-10-01 and the days around it, as spreadsheets count them. */
const firstOfOctober = 46_296;
const at = (day: number, hour: number, minute: number): Cell => ({
  number: String(firstOfOctober + day - 1 + (hour * 60 + minute) / 1440),
  style: 'time',
});
const amount = (number: string): Cell => ({ number });

const statement: Cell[][] = [
  ['Partner statement'],
  ['Period', 'October 2026'],
  ['Transaction ID', 'Click Ref', 'Order time', 'State', 'Commission (USD)', 'Comment'],
  ['W-1001', 'ow-1101', at(25, 2, 30), 'Approved', amount('1.25')],
  ['W-1002', 'ow-1102', at(24, 23, 59), 'Open', amount('29.949999999999999')],
  ['W-1003', 'ow-1103', at(26, 0, 0), 'Cancelled', amount('0'), 'Returned & refunded'],
  [amount('1004'), 'ow-1104', at(26, 10, 15), 'Approved', amount('1234.5')],
  [],
  ['W-1005', undefined, at(26, 11, 0), 'Approved', amount('2')],
  ['W-1006', 'ow-1106', 'yesterday', 'Approved', amount('2')],
  ['Total', undefined, undefined, undefined, { formula: 'SUM(E4:E10)', value: '1269.7' }],
];
const notes: Cell[][] = [['Amounts are net of fees.']];

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packaging = 'http://schemas.openxmlformats.org/package/2006';

/** The members of the workbook's package by their paths. */
function members(): Record<string, string> {
  const texts: string[] = [];
  const sheets = [statement, notes].map((rows) => sheet(rows, texts));
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${relationships}/${type}" Target="${target}"/>`;
  const part = (name: string, type: string) =>
    `<Override PartName="${name}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;
  return {
    '[Content_Types].xml': `${xml}<Types xmlns="${packaging}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${part('/xl/workbook.xml', 'sheet.main')}${part('/xl/worksheets/sheet1.xml', 'worksheet')}${part('/xl/worksheets/sheet2.xml', 'worksheet')}${part('/xl/styles.xml', 'styles')}${part('/xl/sharedStrings.xml', 'sharedStrings')}</Types>`,
    '_rels/.rels': `${xml}<Relationships xmlns="${packaging}/relationships">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `${xml}<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets><sheet name="Statement" sheetId="1" r:id="rId1"/><sheet name="Notes" sheetId="2" r:id="rId2"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${xml}<Relationships xmlns="${packaging}/relationships">${relation(1, 'worksheet', 'worksheets/sheet1.xml')}${relation(2, 'worksheet', 'worksheets/sheet2.xml')}${relation(3, 'styles', 'styles.xml')}${relation(4, 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    // The second format of cells shows a number as a day and a time.
    'xl/styles.xml': `${xml}<styleSheet xmlns="${main}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': sheets[0] as string,
    'xl/worksheets/sheet2.xml': sheets[1] as string,
    'xl/sharedStrings.xml': `${xml}<sst xmlns="${main}" count="${texts.length}" uniqueCount="${texts.length}">${texts.map((text) => `<si><t>${escaped(text)}</t></si>`).join('')}</sst>`,
  };
}

function sheet(rows: readonly Cell[][], texts: string[]): string {
  const cells = (row: readonly Cell[], number: number) =>
    row.map((cell, column) => cellXml(cell, `${'ABCDEF'[column]}${number}`, texts)).join('');
  // Rows without a cell are left out, as are cells without a value.
  const written = rows.flatMap((row, index) =>
    row.length === 0 ? [] : [`<row r="${index + 1}">${cells(row, index + 1)}</row>`],
  );
  return `${xml}<worksheet xmlns="${main}"><sheetData>${written.join('')}</sheetData></worksheet>`;
}

function cellXml(cell: Cell, name: string, texts: string[]): string {
  if (cell === undefined) return '';
  if (typeof cell === 'string') {
    if (!texts.includes(cell)) texts.push(cell);
    return `<c r="${name}" t="s"><v>${texts.indexOf(cell)}</v></c>`;
  }
  if ('formula' in cell) return `<c r="${name}"><f>${cell.formula}</f><v>${cell.value}</v></c>`;
  return `<c r="${name}"${cell.style === 'time' ? ' s="1"' : ''}><v>${cell.number}</v></c>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** A zip of members, all with the same time, so that the same workbook has the same bytes. */
export function workbook(): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(members())) {
    const [name, packed] = [Buffer.from(path), deflateRawSync(text)];
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt16LE(0x5d61, 8);
    facts.writeUInt32LE(crc32(text), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(Buffer.byteLength(text), 18);
    facts.writeUInt16LE(name.length, 22);
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), facts, name, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), facts, place, name]));
    files.push(file);
    offset += file.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(entries.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, entries, Buffer.from('PK\x05\x06'), end]);
}

if (process.argv[1] === import.meta.filename) {
  const folder = new URL('../../../data/exports/workbook-statement/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('statement.xlsx', folder), workbook());
}
