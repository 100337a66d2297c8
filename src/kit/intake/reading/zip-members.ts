import { crc32 } from 'node:zlib';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { UnusableFile } from './record-sink.ts';

/** A workbook has a few dozen members. */
const maxMembers = 10_000;

/** The members of a zip file by name. */
export class ZipMembers {
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  /** To be closed. Throws `UnusableFile` for what is no whole zip. */
  static async open(path: string): Promise<ZipMembers> {
    return asDamage(async () => {
      const file = await openPromise(path, { autoClose: false, lazyEntries: true });
      try {
        const entries = new Map<string, Entry>();
        for await (const entry of file.eachEntry()) {
          if (entries.has(entry.fileName)) throw new Error(`it has two members with the name ${entry.fileName}`);
          entries.set(entry.fileName, entry);
          if (entries.size > maxMembers) throw new Error(`it has more than ${maxMembers} members`);
        }
        return new ZipMembers(file, entries);
      } catch (error) {
        file.close();
        throw error;
      }
    });
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  /** Hands a member's bytes on, and checks that they are whole. What `take` throws ends the reading. */
  async read(name: string, take: (chunk: Buffer) => void): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new UnusableFile({ reason: 'broken_zip', detail: `the zip has no member ${name}` });
    if (entry.isEncrypted())
      throw new UnusableFile({ reason: 'encrypted_zip', detail: `${name} in the zip needs a password` });
    let thrown: { error: unknown } | undefined;
    try {
      await asDamage(async () => {
        const stream = await this.#file.openReadStreamPromise(entry);
        let sum = 0;
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          sum = crc32(chunk, sum);
          try {
            take(chunk);
          } catch (error) {
            thrown = { error };
            throw error;
          }
        }
        if (sum !== entry.crc32) throw new Error(`${name} is not what its checksum says`);
      });
    } catch (error) {
      throw thrown === undefined ? error : thrown.error;
    }
  }

  close(): void {
    this.#file.close();
  }
}

/** The library's errors have no codes of their own; ones of the file system do. */
async function asDamage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (error instanceof UnusableFile || syscall !== undefined) throw error;
    throw new UnusableFile({
      reason: 'broken_zip',
      detail: `the zip is truncated or damaged: ${message}${code === undefined ? '' : ` (${code})`}`,
    });
  }
}
