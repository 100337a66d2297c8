import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { UnreadableNote } from '../../kit/files/note-file.ts';
import { readRecentRuns } from '../runs/recent-runs.ts';
import { describeRefusedRuns, refusalTroubles, readRefusedMaintenance, readRefusedRuns } from '../runs/refused-runs.ts';
import { trouble, unreadableNote, type Finding } from './finding.ts';

/** Finds failed runs that no ledger has, and notes of runs that cannot be read; `runs` and `status` show the rest. */
export function examineRuns(data: DataDirectory): Finding[] {
  const unreadable: Finding[] = [];
  const onUnreadable = (note: UnreadableNote) => unreadable.push(unreadableNote('runs', note));
  readRecentRuns(data, onUnreadable);
  const refused = [readRefusedRuns(data, onUnreadable), readRefusedMaintenance(data, onUnreadable)];
  const advice = 'what is published stays; put that right, and the next run goes on from there';
  const troubles = refusalTroubles(refused).map((runs) => {
    const problem = describeRefusedRuns(runs).slice(runs.command.length + 1);
    return trouble('runs', runs.command, problem, advice, { repairable: false });
  });
  return [...unreadable, ...troubles];
}
