/** A run's number in names of files and snapshots, so that they sort as the runs followed one another. */
export function runNumberText(runId: number): string {
  return String(runId).padStart(8, '0');
}
