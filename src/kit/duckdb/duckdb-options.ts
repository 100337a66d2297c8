import { availableParallelism, totalmem } from 'node:os';
import type { DataDirectory } from '../config/data-directory.ts';
import type { Settings } from '../config/settings.ts';

const mebibyte = 2 ** 20;

/** What the machine gives this process. */
export interface Machine {
  /** Bytes of memory that this process may use: the machine's, or its control group's limit where that is less. */
  memory: number;
  processors: number;
}

export function thisMachine(): Machine {
  // Without a limit the control group reports 0 or a number beyond any machine's memory.
  const limit = process.constrainedMemory();
  return { memory: Math.min(totalmem(), limit > 0 ? limit : Infinity), processors: availableParallelism() };
}

/**
 * How DuckDB is opened. Its memory limit covers the buffer manager only, not what hash tables and readers
 * take beside it, so by default it is half of what the process may use; beyond that it spills to a folder of its
 * own, which nobody empties while the database is open.
 */
export function duckdbOptions(
  data: DataDirectory,
  { duckdb }: Pick<Settings, 'duckdb'>,
  machine: Machine = thisMachine(),
): Record<string, string> {
  return {
    memory_limit: duckdb.memory_limit ?? `${Math.floor(machine.memory / 2 / mebibyte)}MiB`,
    threads: String(duckdb.threads ?? machine.processors),
    temp_directory: data.spill,
  };
}
