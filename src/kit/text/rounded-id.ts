/** As spreadsheets write a number of more digits than they show: what is left of an id that was one. */
export const roundedExample = '1.23457E+17';

/** Beside what a source's name may stand before it; a comma stands for the point where people write it so. */
const pattern = '(^|[^0-9A-Za-z.,])[0-9]([.,][0-9]{1,17})?[eE][+][0-9]{2,3}$';

/** The code of the warning. */
export const roundedId = `id_like_${roundedExample}`;

export function looksRounded(id: string): boolean {
  return new RegExp(pattern).test(id);
}

/** The same in SQL, of a column. Nearly no id has the plus that is looked for first. */
export function looksRoundedSql(column: string): string {
  return `(contains(${column}, '+') AND regexp_matches(${column}, '${pattern}'))`;
}

/** What it means, and what to do. */
export const roundedAdvice = `ids look like ${roundedExample}: a spreadsheet has rounded long numbers, so different ones may have become one; export them as text`;
