import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { MultipartFile, Multipart } from '@fastify/multipart';
import { isDiskFull } from '../../kit/errors/machine-failure.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';
import { ConsoleError } from '../page/page.ts';

/** Bytes of the largest file that is taken: two of them are on the disk at once. */
export const maxUploadBytes = 20 * 1000 * 1000;

/** A form with a file, as it came. */
export interface Upload {
  /** The path of its bytes; they are gone once the work on it has ended. */
  path: string;
  /** Name of the file on the machine of the sender, of any characters. */
  name: string;
  /** The other fields of the form; of one that comes twice the last one. */
  fields: ReadonlyMap<string, string>;
}

/**
 * Files that people send, each in a folder of its own for its owner alone. The folder is removed when the work on it
 * has ended, however that ends; those of a killed console are removed when the next one starts.
 */
export class Uploads {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<Uploads> {
    const left = await readdir(folder).catch(() => []);
    for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
    return new Uploads(folder);
  }

  /**
   * Receives a form and works on its file. Throws `ConsoleError` where the form has no file, or one that is too large,
   * the errors of a form that breaks off, and those of the work.
   *
   * @param folder May hold other files of the work; removed with all of them.
   */
  async use<Result>(
    parts: AsyncIterable<Multipart>,
    work: (upload: Upload, folder: string) => Promise<Result>,
  ): Promise<Result> {
    makePrivateFolder(dirname(this.#folder));
    makePrivateFolder(this.#folder);
    const folder = await mkdtemp(join(this.#folder, 'upload-'));
    try {
      const upload = await receive(parts, join(folder, 'file')).catch((error: unknown) => {
        throw formErrorOf(error);
      });
      return await work(upload, folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function receive(parts: AsyncIterable<Multipart>, path: string): Promise<Upload> {
  const fields = new Map<string, string>();
  let name: string | undefined;
  for await (const part of parts)
    if (part.type === 'file') {
      await save(part, path);
      name = part.filename;
    } else if (typeof part.value === 'string') fields.set(part.fieldname, part.value);
  // A browser sends a file without a name where none was chosen.
  if (name === undefined || name === '')
    throw new ConsoleError(422, 'The form has no file: choose one and send it again.');
  if ([...fields.values()].some((value) => value.includes('\0')))
    throw new ConsoleError(400, 'A field of the form has a NUL character: remove it.');
  return { path, name, fields };
}

async function save({ file }: MultipartFile, path: string): Promise<void> {
  // Without this the rest of the file would be received first.
  file.once('limit', () => file.destroy(tooLarge()));
  await pipeline(file, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
}

/** The answer to a file of more bytes than are taken. */
export function tooLarge(): ConsoleError {
  return new ConsoleError(
    413,
    `The file is larger than ${maxUploadBytes / 1e6} MB, the most that this page takes. On the machine of offerline \`offerline inspect FILE\` shows the same of a file of any size.`,
  );
}

/** Turns an error of receiving a form into the answer of its page; errors of the machine stay as they are. */
function formErrorOf(error: unknown): unknown {
  if (error instanceof ConsoleError) return error;
  if (isDiskFull(error)) return new ConsoleError(503, 'The disk is full: free some room and send the file again.');
  const { code, syscall, statusCode } = error as NodeJS.ErrnoException & { statusCode?: number };
  if (syscall !== undefined) return error;
  if (code === 'FST_INVALID_MULTIPART_CONTENT_TYPE')
    return new ConsoleError(415, 'This address takes a form with a file, as the page "Try a file" sends it.');
  return new ConsoleError(
    statusCode ?? 400,
    'The form broke off or is not one of the page "Try a file": load the page and send it again.',
  );
}
