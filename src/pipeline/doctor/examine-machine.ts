import type { StatsFs } from 'node:fs';
import { access, constants, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readOnlyAdvice } from '../../kit/errors/machine-failure.ts';
import { note, trouble, type Finding } from './finding.ts';

/** Free bytes that a run needs beside copies of the state. */
const minFreeBytes = 256 * 1024 * 1024;
/**
 * With less than this every run fails, also one without news: the ledger's commit takes as much. With a little more a
 * run may fail as well, but its failure can be noted.
 */
const leastBytes = 1024 * 1024;

export interface MachineExamination {
  findings: Finding[];
  /** Those of `findings` by which the next run, or the next snapshot to follow, fails for sure. */
  stopping: Finding[];
}

/** What the system says of a disk. A test fills it, or makes it read-only. */
export interface DiskState {
  room(folder: string): Promise<Pick<StatsFs, 'bavail' | 'bsize' | 'files' | 'ffree'>>;
  /** Rejects with the system's error where this process may not read and write the folder, or there is none. */
  assertWritable(folder: string): Promise<void>;
}

const realDisk: DiskState = {
  room: (folder) => statfs(folder),
  assertWritable: (folder) => access(folder, constants.R_OK | constants.W_OK | constants.X_OK),
};

/** Checks free space and the right to write, and lists what was put aside. */
export async function examineMachine(data: DataDirectory, disk: DiskState = realDisk): Promise<MachineExamination> {
  const room = await examineRoom(data, disk);
  const folders = await examineFolders(data, disk);
  return {
    findings: [...room.findings, ...folders.findings, ...(await listQuarantine(data))],
    stopping: [...room.stopping, ...folders.stopping],
  };
}

async function examineRoom(data: DataDirectory, disk: DiskState): Promise<MachineExamination> {
  const { bavail, bsize, files, ffree } = await disk.room(data.root);
  const state = await stat(data.stateFile).catch(() => undefined);
  // A run rewrites the state, copies it, and writes a snapshot.
  const needed = minFreeBytes + 3 * (state?.size ?? 0);
  const free = bavail * bsize;
  const found = (problem: string, advice: string) =>
    trouble('machine', data.root, problem, advice, { repairable: false });
  const full: Finding[] = [];
  if (free < leastBytes)
    full.push(
      found(
        `has ${mebibytes(free)} MiB of room, so every run fails; one may need ${mebibytes(needed)}`,
        `free some room: ${whatToRemove}`,
      ),
    );
  // Some file systems count no files.
  if (files > 0 && ffree === 0)
    full.push(
      found('is on a file system that can hold no file more, so every run fails', `remove some: ${whatToRemove}`),
    );
  if (full.length > 0 || free >= needed) return { findings: full, stopping: full };
  const problem = `has ${mebibytes(free)} MiB of room, a run may need ${mebibytes(needed)}`;
  return { findings: [found(problem, 'free some room, or lower snapshots_kept in offerline.json')], stopping: [] };
}

/** What frees room while no run, and so no `run maintenance`, is possible. */
const whatToRemove =
  '`offerline maintenance landing --older-than 30` lists landing files that no run needs, and warehouse/put-aside/ has what was set aside to be looked at';

async function examineFolders(data: DataDirectory, disk: DiskState): Promise<MachineExamination> {
  const folders = [data.root, data.warehouse, data.published];
  const examined = await Promise.all(folders.map((folder) => examineFolder(folder, disk)));
  const [root, ...written] = examined;
  const stopping = written.flatMap(({ finding }) => finding ?? []);
  // A run writes into the other two alone, and makes those that are missing.
  if (root?.finding !== undefined && written.some(({ isMissing }) => isMissing)) stopping.unshift(root.finding);
  return { findings: examined.flatMap(({ finding }) => finding ?? []), stopping };
}

async function examineFolder(folder: string, disk: DiskState): Promise<{ finding?: Finding; isMissing: boolean }> {
  const code = await disk.assertWritable(folder).then(
    () => undefined,
    (error: unknown) => (error as NodeJS.ErrnoException).code,
  );
  if (code === undefined || code === 'ENOENT') return { isMissing: code === 'ENOENT' };
  const advice = code === 'EROFS' ? readOnlyAdvice : 'let the user who runs offerline write to it';
  return {
    finding: trouble('machine', folder, `cannot be written (${code})`, advice, { repairable: false }),
    isMissing: false,
  };
}

async function listQuarantine({ quarantine }: DataDirectory): Promise<Finding[]> {
  const names = await readdir(quarantine).catch(() => []);
  return names.map((name) =>
    note(
      'machine',
      join(quarantine, name),
      'was put aside',
      'read its reason.txt; remove it when nobody needs it any more',
    ),
  );
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
