import { createHash } from 'node:crypto';
import { open, readFile, readdir, stat } from 'node:fs/promises';
import { statSync, type BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { NewerDataError } from '../../kit/errors/newer-data.ts';
import { manifestFile, parseManifest } from './manifest.ts';
import type { Manifest } from './manifest.ts';

/** A snapshot's files differ from its manifest: it must not be served or opened. */
export class DamagedSnapshotError extends OfferlineError {
  constructor(folder: string, finding: string, options?: ErrorOptions) {
    super(
      `snapshot ${folder} is damaged: ${finding}. It is left alone; \`offerline run refresh\` publishes a new one`,
      undefined,
      options,
    );
  }
}

/** Bytes hashed between two turns of the event loop: half a millisecond, so that requests do not wait. */
const readBytes = 1024 * 1024;

/**
 * Digests of files that this process has read, by device, inode, size and modification time. Snapshots share event
 * files as hard links, which keep all four, so history is hashed once.
 */
const digests = new Map<string, string>();
const maxDigests = 100_000;

/**
 * Checks a snapshot's folder against its manifest: every listed file exists with its size and SHA-256, and there is no
 * write-ahead log for DuckDB to replay. `isNeeded` leaves out files that the caller does not read. Throws
 * `DamagedSnapshotError` with the file; other errors are the disk's.
 */
export async function verifySnapshot(
  folder: string,
  isNeeded: (path: string) => boolean = () => true,
): Promise<Manifest> {
  const manifest = await readManifest(folder);
  const leftover = (await readdir(folder)).find((name) => name.endsWith('.wal'));
  if (leftover !== undefined) throw new DamagedSnapshotError(folder, `${leftover} was left beside the database`);
  for (const [path, expected] of Object.entries(manifest.files)) {
    if (isAbsolute(path) || path.split('/').includes('..')) {
      throw new DamagedSnapshotError(folder, `${manifestFile} names ${path}, which is outside of the folder`);
    }
    if (isNeeded(path)) await verifyFile(folder, path, expected);
  }
  return manifest;
}

/**
 * Checks the current snapshot at a cost that does not grow with history: reads its own files, and of files shared with
 * other snapshots those that were changed after the manifest was written. Throws as `verifySnapshot` does.
 */
export async function verifyOwnFiles(folder: string): Promise<void> {
  const manifest = await readManifest(folder);
  const { mtimeNs: published } = await stat(join(folder, manifestFile), { bigint: true });
  for (const [path, expected] of Object.entries(manifest.files)) {
    const about = aboutFile(folder, path);
    if (!path.includes('/') || about.mtimeNs > published || about.size !== BigInt(expected.bytes))
      await verifyFile(folder, path, expected);
  }
}

/** Returns a file's stats, synchronously: awaiting thousands takes most of the time of a run with nothing to do. */
function aboutFile(folder: string, path: string): BigIntStats {
  try {
    return statSync(join(folder, path), { bigint: true });
  } catch (error) {
    throw missingOr(error, folder, path);
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, manifestFile), 'utf8');
  } catch (error) {
    throw missingOr(error, folder, manifestFile);
  }
  try {
    return parseManifest(text);
  } catch (error) {
    if (error instanceof NewerDataError) throw error;
    const { message } = error as Error;
    throw new DamagedSnapshotError(folder, `${manifestFile} cannot be used: ${message}`, { cause: error });
  }
}

async function verifyFile(folder: string, path: string, expected: { sha256: string; bytes: number }): Promise<void> {
  let file: FileHandle;
  try {
    file = await open(join(folder, path), 'r');
  } catch (error) {
    throw missingOr(error, folder, path);
  }
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new DamagedSnapshotError(folder, `${path} is not a file`);
    if (stats.size !== BigInt(expected.bytes)) {
      throw new DamagedSnapshotError(folder, `${path} has ${stats.size} bytes, the manifest says ${expected.bytes}`);
    }
    if ((await digestOf(file, stats)) !== expected.sha256) {
      throw new DamagedSnapshotError(folder, `${path} does not have the SHA-256 that the manifest says`);
    }
  } finally {
    await file.close();
  }
}

async function digestOf(file: FileHandle, stats: BigIntStats): Promise<string> {
  const identity = `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs}`;
  const known = digests.get(identity);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(readBytes, Number(stats.size))));
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
  }
  const digest = hash.digest('hex');
  if (digests.size >= maxDigests) digests.clear();
  digests.set(identity, digest);
  return digest;
}

function missingOr(error: unknown, folder: string, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return error;
  return new DamagedSnapshotError(folder, `${path} is missing`, { cause: error });
}
