/** Middle value; of an even number, the mean of the two in the middle. Throws where there is none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('there is no median of nothing');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return ((sorted[Math.ceil(sorted.length / 2) - 1] as number) + (sorted[middle] as number)) / 2;
}

/** The element whose value is the lower middle one: a run that really took place, to show its parts. */
export function medianOf<Item>(items: readonly Item[], valueOf: (item: Item) => number): Item {
  const sorted = items.toSorted((a, b) => valueOf(a) - valueOf(b));
  const middle = sorted[Math.ceil(sorted.length / 2) - 1];
  if (middle === undefined) throw new RangeError('there is no median of nothing');
  return middle;
}

export interface Pair<First, Second> {
  first: First;
  second: Second;
}

/**
 * Measures two things in turns, the other one first in every second round, so that whatever slows the machine down
 * meets both. Ratios are to be taken within a pair.
 */
export async function inTurns<First, Second>(
  rounds: number,
  measureFirst: () => Promise<First>,
  measureSecond: () => Promise<Second>,
  onRound: (round: number, pair: Pair<First, Second>) => void,
): Promise<Pair<First, Second>[]> {
  const pairs: Pair<First, Second>[] = [];
  for (let round = 1; round <= rounds; round++) {
    let pair: Pair<First, Second>;
    if (round % 2 === 1) {
      pair = { first: await measureFirst(), second: await measureSecond() };
    } else {
      const second = await measureSecond();
      pair = { first: await measureFirst(), second };
    }
    onRound(round, pair);
    pairs.push(pair);
  }
  return pairs;
}
