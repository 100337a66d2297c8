import { Random, seedFor } from '../../../src/demo/generate/network/random.ts';
import { FaultedLife, type Fault } from './faulted-life.ts';
import type { StepPoint } from './watched-effects.ts';

export interface FaultPlan {
  /** Kills, one in four of them with damage, or failing calls. */
  kind: 'kill' | 'fail';
  rounds: number;
  seed: number;
  /** Told after every round: its number from 1, what it did and what was wrong. */
  onRound?: (round: number, faults: Fault[], wrong: string[]) => void;
}

export interface FaultReport {
  passed: number;
  failed: number;
  /** How often each step's moment was hit. */
  hits: Map<string, number>;
  /** Moments of steps that some round had and none hit. */
  missed: string[];
}

/** A history of this many refreshes; then a new network begins, since a longer history only costs time. */
const roundsOfALife = 10;

/**
 * Runs rounds of faults: the points that were hit least come first, so that all of them have their turn; one round in
 * four has a random moment.
 */
export async function runFaults({ kind, rounds, seed, onRound }: FaultPlan): Promise<FaultReport> {
  const report: FaultReport = { passed: 0, failed: 0, hits: new Map(), missed: [] };
  const known = new Set<string>();
  for (let first = 0; first < rounds; first += roundsOfALife) {
    await using life = await FaultedLife.create(seedFor(seed, first), roundsOfALife);
    for (let round = 0; round < Math.min(roundsOfALife, rounds - first); round++) {
      const random = new Random(seedFor(seed, `round ${first + round}`));
      const faults: Fault[] = [];
      const wrong = await life
        .round(round, random, (points) => {
          for (const point of points) known.add(nameOf(point));
          const chosen = chooseFaults(kind, points, report.hits, random);
          faults.push(...chosen);
          return chosen;
        })
        .catch((error: unknown) => [`the round broke off: ${(error as Error).stack}`]);
      if (wrong.length === 0) report.passed++;
      else report.failed++;
      onRound?.(first + round + 1, faults, wrong);
      if (wrong.length === 0) continue;
      // What went wrong stays wrong in the rounds after it.
      report.failed += Math.min(roundsOfALife, rounds - first) - round - 1;
      break;
    }
  }
  report.missed = [...known].filter((name) => !report.hits.has(name));
  return report;
}

function chooseFaults(
  kind: FaultPlan['kind'],
  points: readonly StepPoint[],
  hits: Map<string, number>,
  random: Random,
): Fault[] {
  if (kind === 'kill' && random.chance(0.25)) return [{ kind, point: null }];
  // What is done already cannot fail any more.
  const possible = kind === 'fail' ? points.filter(({ moment }) => moment !== 'after') : points;
  // Now and then the run that recovers is hit as well.
  return Array.from({ length: random.chance(0.25) ? 2 : 1 }, (): Fault => {
    const fewest = Math.min(...possible.map((point) => hits.get(nameOf(point)) ?? 0));
    const point = random.pick(possible.filter((each) => (hits.get(nameOf(each)) ?? 0) === fewest));
    hits.set(nameOf(point), fewest + 1);
    return { kind: kind === 'kill' && random.chance(0.25) ? 'damage' : kind, point };
  }).flatMap((fault): Fault[] =>
    fault.kind === 'damage' && random.chance(0.5) ? [fault, { kind: 'kill', point: null }] : [fault],
  );
}

export function nameOf({ moment, step }: StepPoint): string {
  return `${moment} ${step}`;
}
