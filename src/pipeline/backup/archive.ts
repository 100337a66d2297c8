import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, pack, type Pack } from 'tar-stream';
import { OfferlineError } from '../../kit/errors/errors.ts';
import {
  BrokenBackupError,
  backupManifestText,
  parseBackupManifest,
  type BackupManifest,
  type BackupMember,
} from './backup-manifest.ts';
import { backupManifestFile } from './unfinished-restore.ts';

/** Larger manifests are none of ours: a million files have 250 MB. */
const maxManifestBytes = 1024 * 2 ** 20;

/**
 * Returns the archive as a stream of tar: the manifest, then each member's bytes once, in the manifest's order. It
 * fails with an `OfferlineError` where a file is no longer what the manifest says. `sources`: where each member's bytes
 * are.
 */
export function archiveOf(
  manifest: BackupManifest,
  sources: ReadonlyMap<string, string>,
  onWritten: (bytes: number) => void,
): Pack {
  const archive = pack();
  writeMembers(archive, manifest, sources, onWritten).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  );
  return archive;
}

async function writeMembers(
  archive: Pack,
  manifest: BackupManifest,
  sources: ReadonlyMap<string, string>,
  onWritten: (bytes: number) => void,
): Promise<void> {
  const mtime = new Date(manifest.created_at);
  archive.entry({ name: backupManifestFile, mode: 0o600, mtime }, backupManifestText(manifest));
  for (const member of manifest.members) {
    const modified = new Date(Number(BigInt(member.modified_ns) / 1_000_000n));
    const header = { name: member.path, mode: member.mode, mtime: modified };
    if (member.same_as !== undefined) {
      archive.entry({ ...header, type: 'link', linkname: member.same_as, size: 0 });
      continue;
    }
    const source = sources.get(member.path) as string;
    const read = new Digested(onWritten);
    try {
      await pipeline(firstBytes(source, member.bytes), read, archive.entry({ ...header, size: member.bytes }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw moved(source, error as Error);
      if ((error as Error).message === 'Size mismatch') throw changed(source);
      throw error;
    }
    if (read.sha256 !== member.sha256) throw changed(source);
  }
}

/** Reads as much of a file as it had when the backup looked at it: a log that is appended to has more by now. */
function firstBytes(source: string, bytes: number): Readable {
  return bytes === 0 ? Readable.from([]) : createReadStream(source, { highWaterMark: 2 ** 20, end: bytes - 1 });
}

function moved(source: string, cause: Error): OfferlineError {
  return new OfferlineError(`${source} was moved away while the backup was written: run it again`, undefined, {
    cause,
  });
}

function changed(source: string): OfferlineError {
  return new OfferlineError(
    `${source} has changed since its digest was taken: run the backup again; of a file that nobody writes to, \`offerline doctor --deep --repair\` finds and restores what is damaged`,
  );
}

/** Passes bytes on, and counts and digests them. */
class Digested extends Transform {
  readonly #hash = createHash('sha256');
  readonly #onBytes: (bytes: number) => void;
  #sha256: string | undefined;

  constructor(onBytes: (bytes: number) => void) {
    super({ highWaterMark: 2 ** 20 });
    this.#onBytes = onBytes;
  }

  /** Of all bytes; called once they have passed. */
  get sha256(): string {
    return (this.#sha256 ??= this.#hash.digest('hex'));
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: null, chunk: Buffer) => void): void {
    this.#hash.update(chunk);
    this.#onBytes(chunk.length);
    done(null, chunk);
  }
}

/** Receiver of an archive's parts, in their order. */
export interface ArchiveReader {
  begin(manifest: BackupManifest): Promise<void>;
  /** Reads all of the bytes. */
  member(member: BackupMember, bytes: Readable): Promise<void>;
  /** Called for a member whose bytes came before, as those of `member.same_as`. */
  same(member: BackupMember): Promise<void>;
}

/**
 * Reads an archive through. Throws `BrokenBackupError` where it is cut, a digest differs, or a part is missing, strange
 * or in another place; `UsageError` where a newer program wrote it. `place`: the backup, for errors.
 */
export async function readArchive(
  source: Readable,
  place: string,
  reader: ArchiveReader,
  onRead: (bytes: number, total: number) => void,
): Promise<BackupManifest> {
  const broken = (finding: string, cause?: unknown) =>
    new BrokenBackupError(`${place} is broken: ${finding}; nothing of it was restored`, undefined, { cause });
  let manifest: BackupManifest | undefined;
  let next = 0;
  let read = 0;
  let total = 0;
  const entries = extract();
  const reading = pipeline(source, entries);
  // Its failure shows in the entries as well.
  reading.catch(() => undefined);
  try {
    for await (const entry of entries) {
      const { name, type, size = 0, linkname } = entry.header;
      if (manifest === undefined) {
        if (name !== backupManifestFile || size > maxManifestBytes)
          throw broken(`it does not begin with ${backupManifestFile}, so it is no backup of offerline`);
        manifest = parseBackupManifest(await textOf(entry), place);
        total = manifest.members.reduce((sum, { bytes, same_as }) => sum + (same_as === undefined ? bytes : 0), 0);
        await reader.begin(manifest);
        continue;
      }
      const member = manifest.members[next++];
      if (member === undefined) throw broken(`${name} is not in ${backupManifestFile}`);
      if (member.path !== name) throw broken(`${name} is where ${member.path} should be`);
      if (member.same_as !== undefined) {
        if (type !== 'link' || linkname !== member.same_as)
          throw broken(`${name} is not as ${backupManifestFile} says`);
        entry.resume();
        await reader.same(member);
        continue;
      }
      if (type !== 'file' || size !== member.bytes)
        throw broken(`${name} has ${size} bytes instead of ${member.bytes}`);
      const digested = new Digested((bytes) => onRead((read += bytes), total));
      await Promise.all([
        pipeline(entry as unknown as AsyncIterable<Buffer>, digested),
        reader.member(member, digested),
      ]);
      if (digested.sha256 !== member.sha256) throw broken(`${name} does not have the digest that was written`);
    }
    await reading;
  } catch (error) {
    if (error instanceof Error && /Unexpected end of data|Invalid tar header|Premature close/i.test(error.message))
      throw broken(`it is cut or changed (${error.message})`, error);
    throw error;
  }
  if (manifest === undefined) throw broken('it is empty');
  if (next < manifest.members.length)
    throw broken(`it ends before ${manifest.members[next]?.path}, ${manifest.members.length - next} files are missing`);
  return manifest;
}

async function textOf(entry: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of entry) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
