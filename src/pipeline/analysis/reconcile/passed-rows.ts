import type { JsonObject } from '../../../kit/text/json-text.ts';
import { scalarText } from '../../../kit/intake/mapping/places.ts';

const totalWord =
  /^(?:(?:grand|sub|sum)[\s-]*)?totals?(?=$|[\s:(=])|^(?:gesamt|gesamtsumme|gesamtbetrag|zwischensumme|summe|sum|somme|totale|suma|итого)(?=$|[\s:(=])/iu;

/** The values of a record that are not blank. */
export function filledCells(record: JsonObject): string[] {
  return Object.values(record).flatMap((value) => {
    const text = scalarText(value)?.trim() ?? '';
    return text === '' ? [] : [text];
  });
}

/** Returns whether a row is a total: it says so in place of a click, or anywhere where it names none. */
export function isTotal(click: string, record: JsonObject): boolean {
  return click === '' ? filledCells(record).some((text) => totalWord.test(text)) : totalWord.test(click);
}

/** Returns whether a row below all rewards is a remark such as "made on 18 November": a sentence and nothing else. */
export function isRemark(click: string, record: JsonObject): boolean {
  return /\s/.test(click) && Object.keys(record).length > 1 && filledCells(record).length === 1;
}
