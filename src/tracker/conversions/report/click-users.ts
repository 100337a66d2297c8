import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { readThrough } from '../../../kit/files/read-through.ts';
import { dayNumberOf, dayText, ownLogs } from '../../logs/log-names.ts';
import type { ClickUser, NamedClick } from './known-clicks.ts';

/** Time from the minting of a click to its row in a log, at most. Milliseconds. */
const maxUnderWay = 10_000;
/** Further logs to search: earlier ones where a clock was set back, later ones where a log was moved away. */
const logsBefore = 3;
const logsAfter = 8;
const newline = 10;

/**
 * Finds the user of a click, which its id does not contain: in the published snapshot, and where the click is not there
 * yet, in the tracker's own log of its time.
 */
export class ClickUsers {
  readonly #data: DataDirectory;
  readonly #published: (clickId: string) => Promise<NamedClick | undefined>;

  constructor(data: DataDirectory, published: (clickId: string) => Promise<NamedClick | undefined>) {
    this.#data = data;
    this.#published = published;
  }

  /** Undefined for a click that is in neither. Rejects where a click cannot be looked up now. */
  async find({ clickId, clickedAt, user }: NamedClick): Promise<ClickUser | undefined> {
    return user ?? (await this.#published(clickId))?.user ?? (await this.#inOwnLogs(clickId, clickedAt));
  }

  async #inOwnLogs(clickId: string, clickedAt: number): Promise<ClickUser | undefined> {
    const tried = new Set<string>();
    // A log may get its final name during the search.
    for (let again = true; again;) {
      again = false;
      for (const path of logsOf(this.#data, clickedAt).filter((each) => !tried.has(each))) {
        tried.add(path);
        try {
          const user = await userIn(path, clickId);
          if (user !== undefined) return user;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
          again = true;
        }
      }
    }
    return undefined;
  }
}

/**
 * Logs that may have a click of that time, the likeliest first: the one that was begun last before it, and all that
 * were begun until its row had to be in one.
 */
function logsOf(data: DataDirectory, clickedAt: number): string[] {
  // Over days, too: after a clock was set back, or by a foreign name, a day may begin before the end of the one before.
  const logs = ownLogs(data, 'clicks', dayText(dayNumberOf(clickedAt) - 1)).toSorted(
    (one, other) => one.began - other.began,
  );
  const begunUntil = (moment: number) => logs.filter(({ began }) => began <= moment).length;
  const first = Math.max(0, begunUntil(clickedAt) - 1);
  const after = begunUntil(clickedAt + maxUnderWay);
  const before = logs.slice(Math.max(0, first - logsBefore), first).toReversed();
  return [...logs.slice(first, after), ...logs.slice(after, after + logsAfter), ...before].map(({ path }) => path);
}

async function userIn(path: string, clickId: string): Promise<ClickUser | undefined> {
  let user: ClickUser | undefined;
  let rest: Buffer = Buffer.alloc(0);
  await readThrough(path, (chunk) => {
    if (user !== undefined) return;
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.lastIndexOf(newline) + 1;
    for (let at = bytes.indexOf(clickId); at !== -1 && at < whole; at = bytes.indexOf(clickId, at + clickId.length)) {
      user = userOf(bytes.toString('utf8', bytes.lastIndexOf(newline, at) + 1, bytes.indexOf(newline, at)), clickId);
      if (user !== undefined) return;
    }
    rest = bytes.subarray(whole);
  });
  return user;
}

/** Undefined for the row of another click, which may name this one. */
function userOf(row: string, clickId: string): ClickUser | undefined {
  try {
    const click = JSON.parse(row) as { click_id?: unknown; site_key?: unknown; user_id?: unknown };
    if (click.click_id !== clickId || typeof click.site_key !== 'string' || typeof click.user_id !== 'string')
      return undefined;
    return { siteKey: click.site_key, userId: click.user_id };
  } catch {
    return undefined;
  }
}
