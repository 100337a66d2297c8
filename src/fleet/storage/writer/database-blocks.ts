import { open, type FileHandle } from 'node:fs/promises';
import type { Effects } from '../../../kit/files/effects.ts';
import { severalAtOnce } from '../../../kit/files/several-at-once.ts';
import { writeAt } from '../../../kit/files/write-at.ts';
import { contentOf, readContent } from '../contents.ts';
import type { ObjectStore } from '../object-store.ts';
import type { Content } from '../pointer.ts';

/**
 * DuckDB writes a database in blocks of that size after three headers, and leaves those alone that did not change: cut
 * so, a state that grew a little is mostly what storage has already.
 */
const blockBytes = 256 * 1024;
const headerBytes = 3 * 4096;

/** A part of a file, and its position. */
export interface Block {
  content: Content;
  from: number;
}

/** A database's file cut into its blocks. */
export async function blocksOf(path: string): Promise<Block[]> {
  const file = await open(path);
  const buffer = Buffer.allocUnsafe(blockBytes);
  const blocks: Block[] = [];
  try {
    for (let from = 0; ;) {
      const bytes = await readUpTo(file, buffer.subarray(0, from === 0 ? headerBytes : blockBytes), from);
      if (bytes.length === 0) return blocks;
      blocks.push({ content: contentOf(bytes), from });
      from += bytes.length;
    }
  } finally {
    await file.close();
  }
}

/** A read may give less than was asked for although the file goes on. */
async function readUpTo(file: FileHandle, buffer: Buffer, from: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** The bytes of one block. */
export async function readBlock(path: string, { content, from }: Block): Promise<Buffer> {
  const file = await open(path);
  try {
    return await readUpTo(file, Buffer.allocUnsafe(content.bytes), from);
  } finally {
    await file.close();
  }
}

/**
 * Puts blocks together to a file, which is forced to the disk. Those that lie in `like` at the same place are taken
 * from there, the others fetched. Throws `StorageError`.
 */
export async function fetchBlocks(
  store: ObjectStore,
  contents: readonly Content[],
  path: string,
  like: string,
  effects: Effects,
): Promise<void> {
  let end = 0;
  const blocks = contents.map((content) => ({ content, from: (end += content.bytes) - content.bytes }));
  const present = await open(like).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  try {
    await effects.files.writeFile(path, '', 'storage: state begun');
    const file = await open(path, 'r+');
    try {
      await effects.perform('storage: state fetched', () =>
        severalAtOnce(blocks, async ({ content, from }) => {
          const here = present && (await readUpTo(present, Buffer.allocUnsafe(content.bytes), from));
          const isSame = here !== undefined && contentOf(here).sha256 === content.sha256;
          const bytes = isSame ? here : await readContent(store, content);
          await writeAt(file, bytes, from);
        }),
      );
    } finally {
      await file.close();
    }
  } finally {
    await present?.close();
  }
  await effects.files.syncFile(path, 'storage: state fsynced');
}
