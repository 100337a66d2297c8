import { expect, it } from 'vitest';
import { runFaults } from './lives/fault-plan.ts';
import { slow } from '../support/slow.ts';

// A few rounds only: `npm run test:crash` plays as many as wanted.
it.each([
  ['kill', 1],
  ['fail', 1],
] as const)('after a %s the next run publishes what a run without it publishes', slow, async (kind, rounds) => {
  const wrong: string[] = [];
  const { passed } = await runFaults({
    kind,
    rounds,
    seed: 8,
    onRound: (_round, _faults, found) => void wrong.push(...found),
  });
  expect({ passed, wrong }).toEqual({ passed: rounds, wrong: [] });
});
