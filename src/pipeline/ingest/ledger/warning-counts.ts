import { copied } from '../../../kit/text/kept-text.ts';
import type { IngestWarning, MappedFacts } from '../../landing/landing-file.ts';
import { maxFieldNameCharacters, maxUnknownFieldsCounted, maxUnknownFieldsNamed } from './ledger.ts';

export interface CountedWarning extends IngestWarning {
  rows: number;
}

/**
 * A catalog file's rows by warning and field. Of unknown fields the first ones seen are named, the others are counted.
 */
export class WarningCounts {
  readonly #counts = new Map<string, CountedWarning>();
  readonly #furtherFields = new Set<string>();
  #namedFields = 0;

  add({ warning, field }: IngestWarning): void {
    const name = field && fieldName(field);
    const key = `${warning} ${name ?? ''}`;
    const counted = this.#counts.get(key);
    if (counted !== undefined) counted.rows++;
    else if (warning !== 'unknown_field' || this.#namedFields++ < maxUnknownFieldsNamed)
      this.#counts.set(key, { warning, field: name, rows: 1 });
    else if (this.#furtherFields.size < maxUnknownFieldsCounted) this.#furtherFields.add(key);
  }

  /** Counts cells that say NULL, by column. */
  addNullTexts(texts: ReadonlyMap<string, number>, known: readonly string[]): void {
    for (const [field, rows] of texts)
      if (known.includes(field)) this.#counts.set(`${nullText} ${field}`, { warning: nullText, field, rows });
  }

  /** Counts what a mapping passed over, and what it understood with a loss. */
  addMapped(mapped: MappedFacts | undefined): void {
    for (const warning of mappedWarnings(mapped))
      this.#counts.set(`${warning.warning} ${warning.field ?? ''}`, warning);
  }

  list(): CountedWarning[] {
    const further = this.#furtherFields.size;
    return [
      ...this.#counts.values(),
      ...(further === 0 ? [] : [{ warning: furtherFields, field: null, rows: further }]),
    ];
  }

  get total(): number {
    return totalOf(this.list());
  }
}

/** Warning of cells that say NULL without quotes, or have an error of a workbook: they count as absent. */
export const nullText = 'null_text';

/** Warning that counts the records that a mapping passes over. */
export const passedOver = 'passed_over';

/** Warning of a field whose columns a table lacks, or whose place all records lack, once for the file. */
const noColumn = 'no_column';

/** Warnings that each reading counts for the whole file. */
export const wholeFileWarnings = [nullText, passedOver, noColumn];

/** Warning that counts the fields that are not named. */
export const furtherFields = 'further_unknown_fields';

/** An unknown field counts once per file, however many rows have it. */
export function totalOf(warnings: readonly CountedWarning[]): number {
  return warnings.reduce((sum, { warning, rows }) => sum + (warning === 'unknown_field' ? 1 : rows), 0);
}

/** Returns a name as it can be stored: half a surrogate cannot, and a name may be as long as a file. */
function fieldName(name: string): string {
  return name.length <= maxFieldNameCharacters
    ? name.toWellFormed()
    : copied(name.slice(0, maxFieldNameCharacters).toWellFormed());
}

/** What a mapping passed over, what it understood with a loss, and fields whose columns the file lacks. */
export function mappedWarnings(mapped: MappedFacts | undefined): CountedWarning[] {
  if (mapped === undefined) return [];
  const counts = [
    ...[...mapped.warnings].map(([warning, rows]) => ({ warning, field: null, rows })),
    ...mapped.absent.map(({ field }) => ({ warning: noColumn, field, rows: 1 })),
  ];
  return mapped.passedOver === 0 ? counts : [...counts, { warning: passedOver, field: null, rows: mapped.passedOver }];
}
