import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { UnreadableNote } from '../../kit/files/note-file.ts';
import { readLockHolder } from '../../kit/files/process-lock.ts';
import { durationText } from '../../kit/time/age.ts';
import { headline } from '../../kit/text/headline.ts';
import { configurationAdvice, configurationTrouble } from '../runs/configuration-note.ts';
import { readHeldLease, realLeaseClocks, type LeaseClocks } from '../runs/held-lease.ts';
import { leaseTimes } from '../runs/held-lease.ts';
import { clockOffsetAdvice, describeClockOffset } from '../runs/storage-clock.ts';
import { readStorageRole, type StorageRole } from '../runs/storage-role.ts';
import { trouble, unreadableNote, type Finding } from './finding.ts';

/** Role of this machine and its trouble with storage. */
export interface ScheduleReport {
  /** `neither` where no schedule of this data directory runs, and none of its services follows storage. */
  role: StorageRole['role'] | 'neither';
  /** The process in this role, and its start. */
  pid: number | null;
  since: string | null;
  /** Null without `storage`. */
  storage: string | null;
  /** Name of the schedule that writes, where this one stands by. */
  writer: string | null;
  /** Seconds since this schedule renewed the lease, or saw `writer` renew it; null where no schedule holds one. */
  lease_age_seconds: number | null;
  /** Error that keeps it from its work; null without one. */
  error: string | null;
  error_since: string | null;
  /** The last error of storage and its time, also where it has been used since. */
  last_error: string | null;
  last_error_at: string | null;
  /** Seconds by which this machine's clock is ahead of storage's, at the last look; null where not known. */
  clock_offset_seconds: number | null;
}

const noSchedule: ScheduleReport = {
  role: 'neither',
  pid: null,
  since: null,
  storage: null,
  writer: null,
  lease_age_seconds: null,
  error: null,
  error_since: null,
  last_error: null,
  last_error_at: null,
  clock_offset_seconds: null,
};

/** Reads the role from locks and notes of this machine alone, so that hanging storage delays no status. */
export function readSchedule(
  data: DataDirectory,
  { storage }: Pick<Settings, 'storage'>,
  clocks: LeaseClocks = realLeaseClocks,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): ScheduleReport {
  if (storage === undefined) {
    const holder = readLockHolder(data.scheduleLockFile);
    return holder === undefined ? noSchedule : { ...noSchedule, role: 'writes', pid: holder.pid, since: holder.since };
  }
  const [lockFile, roleFile] = storage.follow
    ? [data.serviceLockFile, data.followingRoleFile]
    : [data.storageScheduleLockFile, data.scheduleRoleFile];
  const noted = readStorageRole(roleFile, storage.url, onUnreadable);
  const holder = readLockHolder(lockFile);
  const report = {
    ...noSchedule,
    storage: storage.url,
    error: noted?.error ?? null,
    error_since: noted?.error_since ?? null,
    last_error: noted?.last_error ?? null,
    last_error_at: noted?.last_error_at ?? null,
    clock_offset_seconds: typeof noted?.clock_offset === 'number' ? Math.round(noted.clock_offset / 1000) : null,
  };
  if (holder === undefined) return report;
  const here = { ...report, pid: holder.pid, since: holder.since };
  if (storage.follow) return { ...here, role: 'follows' };
  if (noted?.role !== 'writes') return { ...here, ...standby(noted, clocks) };
  const lease = readHeldLease(data, clocks);
  const age = lease === undefined ? null : Math.max(0, Math.round((leaseTimes.believed - lease.left) / 1000));
  const isOver = age === null || lease === undefined || lease.left <= 0;
  return {
    ...here,
    role: 'writes',
    lease_age_seconds: age,
    ...(isOver &&
      here.error === null && {
        error: `its lease was not renewed for ${durationText(age ?? 0)}: is its process stopped?`,
      }),
  };
}

function standby(
  noted: StorageRole | undefined,
  clocks: LeaseClocks,
): Pick<ScheduleReport, 'role' | 'writer' | 'lease_age_seconds'> {
  const { writer = null, renewal_seen_at: seen = null } = noted ?? {};
  const age = seen === null ? null : Math.max(0, Math.round((clocks.wall() - Date.parse(seen)) / 1000));
  return { role: 'stands_by', writer, lease_age_seconds: age };
}

/** Returns such as "the schedule stands by and cannot use storage since …: …"; undefined without an error. */
export function scheduleTrouble({ role, error, error_since: since }: ScheduleReport): string | undefined {
  return error === null ? undefined : `${troubled[role]}${since === null ? '' : ` since ${since}`}: ${headline(error)}`;
}

const troubled: Record<ScheduleReport['role'], string> = {
  writes: 'the schedule cannot write to storage',
  stands_by: 'the schedule stands by and cannot use storage',
  follows: 'the service serves on what it has and cannot follow storage',
  neither: 'what ran here last could not use storage',
};

/** Advice for that trouble. */
export const scheduleAdvice =
  'put that right: processes that run recover by themselves, ended ones have to be started again';

/** Returns such as "this machine's clock is 10 min ahead of that of s3://…"; undefined where it is near storage's. */
export function storageClockTrouble({ clock_offset_seconds: offset, storage }: ScheduleReport): string | undefined {
  return offset === null ? undefined : describeClockOffset(offset * 1000, storage ?? 'storage');
}

export function examineSchedule(data: DataDirectory, settings: Pick<Settings, 'storage'>): Finding[] {
  const findings: Finding[] = [];
  const report = readSchedule(data, settings, realLeaseClocks, (of) => findings.push(unreadableNote('schedule', of)));
  const differs = configurationTrouble(data, settings.storage?.url, (of) =>
    findings.push(unreadableNote('schedule', of)),
  );
  if (differs !== undefined)
    findings.push(trouble('schedule', data.root, differs, configurationAdvice, { repairable: false }));
  const subject = report.storage ?? data.warehouse;
  const problem = scheduleTrouble(report);
  const wrongClock = storageClockTrouble(report);
  return [
    ...findings,
    ...(problem === undefined ? [] : [trouble('schedule', subject, problem, scheduleAdvice, { repairable: false })]),
    ...(wrongClock === undefined
      ? []
      : [trouble('schedule', subject, wrongClock, clockOffsetAdvice, { repairable: false })]),
  ];
}
