import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'offerline-query-';

/**
 * Returns a folder for one database to spill to. DuckDB makes it when it has to and removes it at the database's end.
 * Two databases that spill to one folder write over each other's files, which ends the process by force.
 */
export function ownSpillFolder(): string {
  return join(tmpdir(), `${prefix}${process.pid}-${randomUUID()}`);
}

/** Removes spilled files of killed processes. */
export function sweepSpills(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, owner] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (owner === undefined || isAlive(Number(owner))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // The folder is another user's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
