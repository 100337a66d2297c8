import type { Measure } from './bench.ts';

/** Middle value; of an even number, the mean of the two in the middle. Throws where there is none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('there is no median of nothing');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return ((sorted[Math.ceil(sorted.length / 2) - 1] as number) + (sorted[middle] as number)) / 2;
}

/** The smallest value that 95 % are not above. */
export function percentile95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1] ?? Number.NaN;
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
): Promise<Pair<First, Second>[]> {
  const pairs: Pair<First, Second>[] = [];
  for (let round = 1; round <= rounds; round++) {
    if (round % 2 === 1) {
      pairs.push({ first: await measureFirst(), second: await measureSecond() });
    } else {
      const second = await measureSecond();
      pairs.push({ first: await measureFirst(), second });
    }
  }
  return pairs;
}

/** The median of values, one a round, as a row of the table. `aim`: such as `<= 3`. */
export function measureOf(measure: string, values: readonly number[], aim: string, unit = ''): Measure {
  const digits = Math.abs(median(values)) >= 100 ? 0 : 2;
  const text = (value: number) => value.toFixed(digits);
  return {
    measure,
    reached: text(median(values)) + unit,
    aim: aim === '-' ? aim : aim + unit,
    rounds: values.map(text).join(' '),
  };
}
