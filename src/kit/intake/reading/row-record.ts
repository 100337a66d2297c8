import type { JsonObject } from '../../text/json-text.ts';

/**
 * Returns the record of a row that has another number of cells than the header: writers leave out empty cells at a
 * row's end, or write some more. Undefined where a cell beyond the header has a value. For texts that are there as a
 * whole: of a file that is still written such a row may be cut.
 */
export function rowRecord(cells: readonly unknown[], columns: readonly string[]): JsonObject | undefined {
  const texts = cells.map((cell) => (typeof cell === 'string' && cell !== '' && cell !== '\\N' ? cell : null));
  if (texts.slice(columns.length).some((text) => text !== null && text.trim() !== '')) return undefined;
  return Object.fromEntries(columns.map((name, index) => [name, texts[index] ?? null]));
}
