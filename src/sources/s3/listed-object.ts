import { createHash } from 'node:crypto';
import { endingOf, isReadableName, isUnfinishedName } from '../../kit/vocabulary/landing-formats.ts';
import { compactText, momentOfMilliseconds } from '../../kit/time/moment.ts';

/** An object as a page of the list has it. */
export interface ListedObject {
  key: string;
  /** Tag as the list writes it, quotes included: the store compares it by `If-Match`. */
  etag: string;
  bytes: number;
  /** Milliseconds since the epoch. */
  modified: number;
  storageClass: string;
}

/** Reasons why an object is left out, and counted. `moved` and `next_pull` are found out later than here. */
export type LeftOut = 'folder' | 'empty' | 'unfinished' | 'unread_ending' | 'archived' | 'moved' | 'next_pull';

/**
 * Storage classes whose objects have to be restored before they can be read; others, such as GLACIER_IR, are read like
 * any.
 */
const archives = ['GLACIER', 'DEEP_ARCHIVE'];
const readableLength = 80;

/** Reason why landing does not read an object; undefined where it does. `prefix`: the one under which it was listed. */
export function leftOutFor({ key, bytes, storageClass }: ListedObject, prefix: string): LeftOut | undefined {
  if (key.endsWith('/')) return 'folder';
  // As landing itself passes over such files and folders.
  if (
    key
      .slice(prefix.lastIndexOf('/') + 1)
      .split('/')
      .some(isUnfinishedName)
  )
    return 'unfinished';
  if (bytes === 0) return 'empty';
  if (!isReadableName(lastPart(key))) return 'unread_ending';
  if (archives.includes(storageClass)) return 'archived';
  return undefined;
}

/**
 * The name of the object's landing file. It begins with the moment of the object, so that files are in the order of
 * their making, and holds a digest of all by which the object differs from others, also from an earlier one of the same
 * key.
 */
export function landingName(bucket: string, { key, etag, modified }: ListedObject): string {
  const last = lastPart(key);
  const ending = endingOf(last);
  const readable = last
    .slice(0, -ending.length)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, readableLength);
  const digest = createHash('sha256')
    .update(JSON.stringify([bucket, key, etag, modified]))
    .digest('hex');
  const made = compactText(momentOfMilliseconds(modified));
  return `${made}-${readable || 'object'}-${digest.slice(0, 16)}${ending.toLowerCase()}`;
}

/** True for a name that `landingName` gives, and another program would not. */
export function isLandingName(name: string): boolean {
  const ending = endingOf(name);
  return ending !== '' && /^\d{8}T\d{6}Z-.+-[0-9a-f]{16}$/.test(name.slice(0, -ending.length));
}

function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
