import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileEffects } from '../../kit/files/effects.ts';
import { StorageError, type ObjectStore } from './object-store.ts';
import type { Content } from './pointer.ts';

/** Objects other than pointer and lease have their own digest as their key: no writer ever changes one. */
export const contentsPrefix = 'content/';

export function contentKey({ sha256 }: Pick<Content, 'sha256'>, prefix = contentsPrefix): string {
  return prefix + sha256;
}

export function contentOf(bytes: Buffer): Content {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

/** The bytes of a content; throws `StorageError` where they are not those of its name. */
export async function readContent(store: ObjectStore, content: Content, prefix?: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let read = 0;
  const key = contentKey(content, prefix);
  const stream = await store.read(key);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      // Whatever goes on behind them is none of it.
      if ((read += chunk.length) > content.bytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw brokeOff(store, key, error as Error);
  }
  const bytes = Buffer.concat(chunks);
  if (read > content.bytes || contentOf(bytes).sha256 !== content.sha256) throw damaged(store, key);
  return bytes;
}

/**
 * Writes a content into a file, which is forced to the disk. Throws `StorageError` where the bytes are not those of its
 * name, and the disk's own errors; what is written then is of no use.
 */
export async function fetchFile(store: ObjectStore, content: Content, path: string, files: FileEffects): Promise<void> {
  await files.writeFile(path, '', 'storage: file begun');
  const key = contentKey(content);
  const hash = createHash('sha256');
  let read = 0;
  const seen = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      // Whatever goes on behind its bytes would fill the disk.
      if ((read += chunk.length) > content.bytes) done(damaged(store, key));
      else done(null, chunk);
    },
  });
  const source = await store.read(key);
  let broken: Error | undefined;
  source.once('error', (error) => (broken = error));
  try {
    await pipeline(source, seen, createWriteStream(path));
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw broken === undefined ? error : brokeOff(store, key, broken);
  }
  if (hash.digest('hex') !== content.sha256) throw damaged(store, key);
  await files.syncFile(path, 'storage: file fsynced');
}

function brokeOff(store: ObjectStore, key: string, { message }: Error): StorageError {
  return new StorageError(`the reading of ${store.url}/${key} broke off: ${message}`);
}

function damaged(store: ObjectStore, key: string): StorageError {
  return new StorageError(
    `${store.url}/${key} does not have the bytes of its name, their SHA-256: nothing of it is used`,
  );
}
