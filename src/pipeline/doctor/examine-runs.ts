import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { describeRefusedRuns, isRefusalTrouble, readRefusedRuns } from '../runs/refused-runs.ts';
import { trouble, unreadableNote, type Finding } from './finding.ts';

/** Finds failed runs that no ledger has; `runs` and `status` show the others. */
export function examineRuns(data: DataDirectory): Finding[] {
  const unreadable: Finding[] = [];
  const refused = readRefusedRuns(data, (of) => unreadable.push(unreadableNote('runs', of)));
  if (refused === null || !isRefusalTrouble(refused)) return unreadable;
  const problem = describeRefusedRuns(refused).slice(refused.command.length + 1);
  const advice = 'what is published stays; put that right, and the next run goes on from there';
  return [trouble('runs', refused.command, problem, advice, { repairable: false })];
}
