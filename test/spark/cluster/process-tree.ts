import { readdirSync, readFileSync } from 'node:fs';

/** A process of this machine, as `/proc` shows it. */
export interface ProcessSeen {
  pid: number;
  parent: number;
  command: string;
  /** Of user and system, without its children. */
  cpuSeconds: number;
  residentBytes: number;
}

const ticksPerSecond = 100;
const pageBytes = 4096;

/** All processes now. Linux only. */
export function processes(): ProcessSeen[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The name stands in brackets and may hold anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z') return [];
      return [
        {
          pid: Number(name),
          parent: Number(fields[1]),
          command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '),
          cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
          residentBytes: Number(fields[21]) * pageBytes,
        },
      ];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** The processes that a process has started, and those that these have. */
export function descendants(of: number, among: readonly ProcessSeen[] = processes()): ProcessSeen[] {
  const children = among.filter(({ parent }) => parent === of);
  return children.flatMap((child) => [child, ...descendants(child.pid, among)]);
}
