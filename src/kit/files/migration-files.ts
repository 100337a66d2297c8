import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface MigrationFile {
  number: number;
  /** File name without its ending. */
  name: string;
  path: string;
}

/**
 * Returns the migrations of a folder in their order: plain SQL files `NNN_name.sql`, each with one or many statements.
 * There is no way down.
 */
export function migrationFiles(folder: string): MigrationFile[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted();
  return names.map((name, index) => {
    const number = /^(\d{3})_[a-z0-9_]+\.sql$/.exec(name)?.[1];
    if (number === undefined)
      throw new Error(`${join(folder, name)} is not named like 001_initial.sql, so its place in the order is unknown`);
    if (names[index - 1]?.startsWith(`${number}_`))
      throw new Error(`${join(folder, name)} has the number of ${names[index - 1]}, so which comes first is unknown`);
    return { number: Number(number), name: name.slice(0, -'.sql'.length), path: join(folder, name) };
  });
}
