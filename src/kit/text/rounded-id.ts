/** An example of a long number after a spreadsheet has rounded it. */
const roundedExample = '1.23457E+17';

/** A source's name may come before the number; some languages write a comma for the point. */
const pattern = '(^|[^0-9A-Za-z.,])[0-9]([.,][0-9]{1,17})?[eE][+][0-9]{2,3}$';

/** Code of the warning. */
export const roundedId = `id_like_${roundedExample}`;

export function looksRounded(id: string): boolean {
  return new RegExp(pattern).test(id);
}

/** SQL condition for a column. Nearly no id has a plus, which is looked for first. */
export function looksRoundedSql(column: string): string {
  return `(contains(${column}, '+') AND regexp_matches(${column}, '${pattern}'))`;
}

/** Meaning of the warning, and advice. */
export const roundedAdvice = `ids look like ${roundedExample}: a spreadsheet has rounded long numbers, so different ones may have become one; export them as text`;
