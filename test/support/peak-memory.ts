import { readFileSync } from 'node:fs';

/**
 * The most resident memory that a process ever had, in bytes. By Linux's own count of its pages where there is one: the
 * usage that a process reports of itself begins, on Linux, with the memory of the process that started it.
 *
 * @param pid - Where left out: this process. On systems other than Linux no other one can be asked.
 */
export function peakMemory(pid?: number): number {
  if (pid === undefined && process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid ?? 'self'}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
