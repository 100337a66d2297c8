import { prefixesOf } from '../config/s3-settings.ts';
import { Bucket, type BucketAccess } from './bucket.ts';
import { leftOutFor } from './listed-object.ts';
import type { TakenObjects } from './taken-objects.ts';
import type { Asking } from './tries.ts';

/** Counts of the first page of each list. */
export interface BucketCheck {
  /** Objects in all; null where there are more pages. */
  total: number | null;
  /** Objects on the pages that would be taken, new or not. */
  records: number;
  /** Number of them that were not taken yet. */
  new_records: number;
  /** The first new keys. */
  first: string | null;
}

const shownKeys = 3;

/** Asks for one page of each list. Throws `BucketError` saying what is wrong. */
export async function checkBucket(
  source: string,
  access: BucketAccess,
  taken: TakenObjects | undefined,
  asking: Asking,
): Promise<BucketCheck> {
  using bucket = await Bucket.open(access);
  const check = { total: 0 as number | null, records: 0, new_records: 0 };
  const keys: string[] = [];
  for (const { kind, prefix } of prefixesOf(access.settings)) {
    const { objects, next } = await bucket.list(prefix, undefined, asking);
    const readable = objects.filter((object) => leftOutFor(object, prefix) === undefined);
    const fresh = taken === undefined ? readable : taken.newOf({ source, bucket: bucket.name, kind }, readable);
    check.total = check.total === null || next !== undefined ? null : check.total + objects.length;
    check.records += readable.length;
    check.new_records += fresh.length;
    keys.push(...fresh.slice(0, shownKeys).map(({ key }) => key));
  }
  return { ...check, first: keys.slice(0, shownKeys).join(', ') || null };
}
