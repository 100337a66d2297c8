/** Formats a run's number for names of files and snapshots, which then sort in the order of runs. */
export function runNumberText(runId: number): string {
  return String(runId).padStart(8, '0');
}
