/**
 * Loaded before a measured program (`node --import`): when it ends, its resource usage goes to file descriptor 3.
 * Only the process itself knows its peak memory for sure; whoever looks from outside may look too late.
 */
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { peakMemory } from '../support/peak-memory.ts';

/** What a measured program used. */
export interface Usage {
  cpuMicroseconds: number;
  peakBytes: number;
}

function usage(): Usage {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return { cpuMicroseconds: userCPUTime + systemCPUTime, peakBytes: peakMemory() };
}

// Worker threads load this too, and usage is that of the whole process.
if (isMainThread) process.once('exit', () => writeSync(3, JSON.stringify(usage())));
