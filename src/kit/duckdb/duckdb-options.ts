import { availableParallelism, totalmem } from 'node:os';
import type { DataDirectory } from '../config/data-directory.ts';
import type { Settings } from '../config/settings.ts';

const mebibyte = 2 ** 20;

/** Resources of this process. */
interface Machine {
  /** Bytes of memory: the machine's, or the control group's limit where that is less. */
  memory: number;
  processors: number;
}

export function thisMachine(): Machine {
  // Without a limit the control group reports 0 or a number beyond any machine's memory.
  const limit = process.constrainedMemory();
  return { memory: Math.min(totalmem(), limit > 0 ? limit : Infinity), processors: availableParallelism() };
}

/**
 * Options for opening DuckDB. Its memory limit covers the buffer manager only, not hash tables and readers, so the
 * default is half of the memory that the process may use; beyond that DuckDB spills to a folder of its own, which
 * nothing empties while the database is open.
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
