import { crc32, deflateRawSync } from 'node:zlib';

/** A zip of these members, each packed. */
export function zipOf(members: Record<string, string | Uint8Array>): Buffer {
  const bodies: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(members)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    // Names are UTF-8.
    about.writeUInt16LE(0x800, 2);
    about.writeUInt16LE(8, 4);
    about.writeUInt32LE(crc32(bytes), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(Buffer.byteLength(name), 22);
    bodies.push(Buffer.from('PK\u0003\u0004'), about, Buffer.from(name), packed);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    list.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 3]), about, place, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const listed = Buffer.concat(list);
  const end = Buffer.alloc(18);
  const count = Object.keys(members).length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, listed, Buffer.from('PK\u0005\u0006'), end]);
}

/** A cell: a text, a number as a workbook writes it, a moment by the number of its day, an error, or nothing. */
export type Cell = string | { number: string } | { day: string } | { boolean: boolean } | { error: string } | null;

const xml = (body: string) => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${body}`;
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');

/**
 * A workbook of sheets by name, each a list of rows; null stands for a row that the file leaves out. Every other text is
 * a shared one. `parts`: members with the shared texts and the styles, where they have no usual names; `encoding` is
 * that of the sheets.
 */
export function workbookOf(
  sheets: Record<string, readonly (readonly Cell[] | null)[]>,
  since1904 = false,
  parts: { sharedStrings?: string; styles?: string } = {},
  encoding: BufferEncoding = 'utf8',
): Buffer {
  const shared: string[] = [];
  const cell = (value: Cell, name: string, index: number): string => {
    if (value === null) return '';
    if (typeof value === 'object') {
      if ('error' in value) return `<c r="${name}" t="e"><f>B1</f><v>${value.error}</v></c>`;
      if ('boolean' in value) return `<c r="${name}" t="b"><v>${value.boolean ? 1 : 0}</v></c>`;
      return 'day' in value
        ? `<c r="${name}" s="1"><v>${value.day}</v></c>`
        : `<c r="${name}"><v>${value.number}</v></c>`;
    }
    if (index % 2 === 1)
      return `<c r="${name}" t="inlineStr"><is><t xml:space="preserve">${escaped(value)}</t></is></c>`;
    return `<c r="${name}" t="s"><v>${shared.push(value) - 1}</v></c>`;
  };
  const rows = (cells: readonly (readonly Cell[] | null)[]) =>
    cells.map((row, index) => {
      if (row === null) return '';
      const written = row.map((value, column) =>
        cell(value, `${String.fromCharCode(65 + column)}${index + 1}`, column),
      );
      return `<row r="${index + 1}">${written.join('')}</row>`;
    });
  const names = Object.keys(sheets);
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const bodies = names.map((name) => rows(sheets[name] ?? []).join(''));
  return zipOf({
    '[Content_Types].xml': xml('<Types/>'),
    'xl/workbook.xml': xml(
      `<workbook xmlns="${main}" xmlns:r="${relations}"><workbookPr${since1904 ? ' date1904="1"' : ''}/><sheets>${names
        .map((name, index) => `<sheet name="${escaped(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
        .join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': xml(
      `<Relationships>${names
        .map((_, index) => `<Relationship Id="rId${index + 1}" Target="worksheets/sheet${index + 1}.xml"/>`)
        .join('')}${Object.entries(parts)
        .map(([type, member]) => `<Relationship Id="${type}" Type="${relations}/${type}" Target="/${member}"/>`)
        .join('')}</Relationships>`,
    ),
    [parts.styles ?? 'xl/styles.xml']: xml(
      `<styleSheet xmlns="${main}"><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm:ss"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
    ),
    [parts.sharedStrings ?? 'xl/sharedStrings.xml']: xml(
      `<sst xmlns="${main}">${shared.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`,
    ),
    ...Object.fromEntries(
      bodies.map((body, index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        Buffer.from(xml(`<worksheet xmlns="${main}"><sheetData>${body}</sheetData></worksheet>`), encoding),
      ]),
    ),
  });
}
