import { ageText } from '../../kit/time/age.ts';
import { headline } from '../../kit/text/headline.ts';
import { visibleText } from '../../kit/text/visible-text.ts';
import type { ScheduleReport } from '../doctor/examine-schedule.ts';
import type { PipelineReport } from './pipelines-status.ts';

/** Returns such as "the schedule writes to s3://…, the lease renewed 2 s ago (process 7)". */
export function describeRole(schedule: ScheduleReport): string {
  const { role, pid, storage, writer, lease_age_seconds: age, last_error: error, last_error_at: at } = schedule;
  const { error: present } = schedule;
  const lease = age === null ? '' : `, the lease renewed ${ageText(age)}`;
  const words = {
    writes: `the schedule writes${storage === null ? '' : ` to ${storage}${lease}`}`,
    stands_by: `the schedule stands by for ${storage}${writer === null ? '' : `, ${writer} writes${lease}`}`,
    follows: `the service follows ${storage}`,
    neither: `no schedule runs here${storage === null ? '' : `, nor does anything use ${storage}`}`,
  };
  const before = error === null || present !== null ? '' : `; the last error of storage, at ${at}: ${error}`;
  return visibleText(`${words[role]}${pid === null ? '' : ` (process ${pid})`}${before}`);
}

/** A pipeline's last outcome in words, for a table. */
export function pipelineRow({ pipeline, outcome, error, age_seconds, last_good_age_seconds: good }: PipelineReport) {
  return {
    pipeline,
    'last run': error === null ? outcome : `${outcome}: ${headline(error)}`,
    ended: ageText(age_seconds),
    'last good': good === null ? 'none known' : ageText(good),
  };
}
