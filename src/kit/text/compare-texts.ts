/** Compares two texts for sorting: by their UTF-16 units, the same in every locale. */
export function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
