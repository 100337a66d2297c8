import { createHash } from 'node:crypto';
import { endingOf, isParquetName, isReadableName, isUnfinishedName } from '../../kit/vocabulary/landing-formats.ts';
import { percentDecoded, percentEncoded } from '../../kit/text/percent-encoded.ts';
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
export type LeftOut =
  'folder' | 'empty' | 'unfinished' | 'unread_ending' | 'long_partition' | 'archived' | 'moved' | 'next_pull';

/**
 * Storage classes whose objects have to be restored before they can be read; others, such as GLACIER_IR, are read like
 * any.
 */
const archives = ['GLACIER', 'DEEP_ARCHIVE'];
const readableLength = 80;
/** The longest name that file systems take. */
const maxFolderLength = 255;
/** Of all partition folders together, so that the file's path is one that systems take. */
const maxFoldersLength = 1024;

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
  const folders = partitionFolders(key);
  // Without its column it would be another file.
  if (folders.some(({ length }) => length > maxFolderLength) || folders.join('/').length > maxFoldersLength)
    return 'long_partition';
  if (archives.includes(storageClass)) return 'archived';
  return undefined;
}

/**
 * The object's landing file, relative to the folder of its source. Its name begins with the moment of the object, so
 * that files are in the order of their making, and holds a digest of all by which the object differs from others, also
 * from an earlier one of the same key. The partitions of Parquet are the folders above it.
 */
export function landingPath(bucket: string, object: ListedObject): string {
  return [...partitionFolders(object.key), landingName(bucket, object)].join('/');
}

/**
 * Folders of a Parquet file's key that name a column and its value, such as `country=DE`, each as one that landing
 * reads as the same column, whatever characters it has.
 */
function partitionFolders(key: string): string[] {
  const [last = '', ...above] = key.split('/').toReversed();
  if (!isParquetName(last)) return [];
  return above.toReversed().flatMap((folder) => {
    const end = folder.indexOf('=');
    if (end < 1) return [];
    const [name, value] = [folder.slice(0, end), folder.slice(end + 1)].map((part) =>
      percentEncoded(percentDecoded(part) ?? part).replaceAll('.', '%2E'),
    );
    return [`${name}=${value}`.replace(/^_/, '%5F')];
  });
}

function landingName(bucket: string, { key, etag, modified }: ListedObject): string {
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

/** True for a file's name that `landingPath` gives, and another program would not. */
export function isLandingName(name: string): boolean {
  const ending = endingOf(name);
  return ending !== '' && /^\d{8}T\d{6}Z-.+-[0-9a-f]{16}$/.test(name.slice(0, -ending.length));
}

function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
