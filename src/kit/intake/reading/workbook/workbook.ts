import { UnusableFile } from '../record-sink.ts';
import type { ZipMembers } from '../zip-members.ts';
import { isDateFormat } from './cell-text.ts';
import { SharedStrings } from './shared-strings.ts';
import { readXml } from './xml-events.ts';

/** Parts of a workbook that the cells of a sheet refer to. */
export interface Workbook {
  /** Member with the cells of the sheet. */
  sheet: string;
  /** Names of its other sheets. */
  others: string[];
  strings: SharedStrings;
  /** Styles by number, each true where it shows moments. */
  datesByStyle: boolean[];
  /** Days are counted from 1904 on, as on old Macintoshes. */
  since1904: boolean;
}

const root = 'xl/workbook.xml';

/** Returns whether a zip is a workbook. */
export function isWorkbook(members: ZipMembers): boolean {
  return members.names.includes(root) || members.names.includes('xl/workbook.bin');
}

/** Reads all of a workbook but its cells. `sheet`: name or number of the sheet, from 1. */
export async function openWorkbook(
  members: ZipMembers,
  sheet: string | number,
  check: (chunk: Buffer) => void,
): Promise<Workbook> {
  if (!members.names.includes(root))
    throw new UnusableFile({ reason: 'not_xlsx', detail: 'a workbook in binary form: save it as .xlsx' });
  const sheets: { name: string; id: string }[] = [];
  let since1904 = false;
  await readXml(members, root, check, {
    open(name, attributes) {
      if (name === 'sheet') sheets.push({ name: attributes['name'] ?? '', id: relationOf(attributes) });
      if (name === 'workbookPr') since1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
    },
  });
  const chosen = typeof sheet === 'number' ? sheets[sheet - 1] : sheets.find(({ name }) => name === sheet);
  if (chosen === undefined)
    throw new UnusableFile({
      reason: 'no_such_sheet',
      detail: `the workbook has no sheet ${JSON.stringify(sheet)}, but ${sheets.map(({ name }) => name).join(', ')}`,
    });
  const { byId, byType } = await relations(members, check);
  const member = byId.get(chosen.id);
  if (member === undefined)
    throw new UnusableFile({ reason: 'broken_xlsx', detail: `nothing is said of where sheet "${chosen.name}" is` });
  return {
    sheet: member,
    others: sheets.filter((each) => each !== chosen).map(({ name }) => name),
    since1904,
    strings: await strings(members, partOf(members, byType, 'sharedStrings'), check),
    datesByStyle: await styles(members, partOf(members, byType, 'styles'), check),
  };
}

function relationOf(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1] ?? '';
}

/** Members of the workbook by the ids with which it refers to them, and by the last word of their types. */
interface Relations {
  byId: Map<string, string>;
  byType: Map<string, string>;
}

async function relations(members: ZipMembers, check: (chunk: Buffer) => void): Promise<Relations> {
  const [byId, byType] = [new Map<string, string>(), new Map<string, string>()];
  await readXml(members, 'xl/_rels/workbook.xml.rels', check, {
    open(name, { Id: id, Target: target, Type: type = '' }) {
      if (name !== 'Relationship' || id === undefined || target === undefined) return;
      const member = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
      byId.set(id, member);
      byType.set(type.slice(type.lastIndexOf('/') + 1), member);
    },
  });
  return { byId, byType };
}

/**
 * Returns the member with a part of the workbook, under whatever name its writer gives it; undefined where it has none.
 * No two members differ by the case of their names alone, and some writers mix it.
 */
function partOf(members: ZipMembers, byType: Relations['byType'], type: string): string | undefined {
  const named = (byType.get(type) ?? `xl/${type}.xml`).toLowerCase();
  return members.names.find((name) => name.toLowerCase() === named);
}

async function strings(
  members: ZipMembers,
  member: string | undefined,
  check: (chunk: Buffer) => void,
): Promise<SharedStrings> {
  const shared = new SharedStrings();
  if (member === undefined) return shared;
  let text = '';
  const texts = new TextElements();
  await readXml(members, member, check, {
    open(name) {
      if (name === 'si') text = '';
      texts.open(name);
    },
    text(part) {
      if (texts.isText) text += part;
    },
    close(name) {
      texts.close(name);
      if (name === 'si') shared.add(text);
    },
  });
  return shared;
}

/** Returns which texts are a cell's: those in `t`, but for hints of how to read them aloud. */
export class TextElements {
  #inText = false;
  #inHint = false;

  get isText(): boolean {
    return this.#inText && !this.#inHint;
  }

  open(name: string): void {
    if (name === 't') this.#inText = true;
    if (name === 'rPh') this.#inHint = true;
  }

  close(name: string): void {
    if (name === 't') this.#inText = false;
    if (name === 'rPh') this.#inHint = false;
  }
}

async function styles(
  members: ZipMembers,
  member: string | undefined,
  check: (chunk: Buffer) => void,
): Promise<boolean[]> {
  const dates: boolean[] = [];
  if (member === undefined) return dates;
  /** Whether a number format of the file's own shows moments. */
  const formats = new Map<number, boolean>();
  let inCells = false;
  await readXml(members, member, check, {
    open(name, attributes) {
      const { numFmtId, formatCode = '' } = attributes;
      if (name === 'numFmt') formats.set(Number(numFmtId), isDateFormat(Number(numFmtId), formatCode));
      if (name === 'cellXfs') inCells = true;
      const id = Number(numFmtId ?? 0);
      if (name === 'xf' && inCells) dates.push(formats.get(id) ?? isDateFormat(id, undefined));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return dates;
}
