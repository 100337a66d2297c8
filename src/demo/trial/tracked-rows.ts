import { readFileSync, statSync } from 'node:fs';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { dayNumberOf, dayText, ownLogs } from '../../tracker/logs/log-names.ts';
import type { EventKind } from '../../kit/vocabulary/values.ts';

/** A row of the tracker's logs. */
export interface TrackedRow {
  row: Record<string, unknown>;
  /** True where its file was handed to landing. */
  isHandedOver: boolean;
}

/**
 * Finds the row that has these members among what was written since; undefined where there is none. Also in the file
 * that is being written, since a row is there before it is answered for.
 */
export function trackedRow(
  data: DataDirectory,
  kind: EventKind,
  members: Readonly<Record<string, string>>,
  since: number,
): TrackedRow | undefined {
  const sought = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  let isRenamed = false;
  for (const { path, isWhole } of ownLogs(data, kind, dayText(dayNumberOf(since) - 1)).toReversed()) {
    const text = textSince(path, since);
    isRenamed ||= text === undefined;
    const line = text
      ?.split('\n')
      // The rest behind the last end of a line is still being written.
      .slice(0, -1)
      .find((each) => sought.every((member) => each.includes(member)));
    if (line !== undefined) return { row: JSON.parse(line) as Record<string, unknown>, isHandedOver: isWhole };
  }
  return isRenamed ? trackedRow(data, kind, members, since) : undefined;
}

/** Clocks of file systems go in steps. Milliseconds. */
const clockStep = 2000;

/** Empty where nothing was written to it since; undefined where it was renamed meanwhile, which it is once. */
function textSince(path: string, since: number): string | undefined {
  try {
    return statSync(path).mtimeMs < since - clockStep ? '' : readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
