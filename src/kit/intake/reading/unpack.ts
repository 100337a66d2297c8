import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import unbzip2 from 'unbzip2-stream';
import { readThrough } from '../../files/read-through.ts';
import type { Packing } from './recognize.ts';
import { UnusableFile } from './record-sink.ts';
import type { ZipMembers } from './zip-members.ts';
import { ZstdFrames, type FramePiece } from './zstd-frames.ts';

/** A stream of the usual 64 KiB chunks takes four times as long over a log of gigabytes. */
const chunkBytes = 4 * 1024 * 1024;

interface Unpacking {
  /** Called with the bytes as they are in the file, each once. */
  onBytes: (bytes: Buffer) => void;
  /** Called with the text, chunk by chunk; what it throws ends the unpacking. */
  take: (chunk: Buffer) => void;
}

/** Hands on what is packed in a file. Throws `UnusableFile` where it is not whole, and what `take` throws. */
export async function unpack(path: string, packing: Exclude<Packing, 'none' | 'zip'>, to: Unpacking): Promise<void> {
  if (packing === 'bzip2') return unpackBzip2(path, to);
  const source = createReadStream(path, { highWaterMark: chunkBytes });
  source.on('data', (bytes) => to.onBytes(bytes as Buffer));
  try {
    if (packing === 'zstd') await unpackFrames(source, to.take);
    else await unpackMembers(path, source, to.take);
  } catch (error) {
    throw /^(?:Z_|ZSTD_)/.test((error as NodeJS.ErrnoException).code ?? '') ? broken(packing, error as Error) : error;
  }
}

function taking(take: Unpacking['take']): (chunks: AsyncIterable<Buffer>) => Promise<void> {
  return async (chunks) => {
    for await (const chunk of chunks) take(chunk);
  };
}

/**
 * The library takes zeros behind a member for padding, and passes over a further member behind them. One that begins a
 * chunk it unpacks all the same, and then has nowhere to put it, since its output has ended.
 */
async function unpackMembers(path: string, source: Readable, take: Unpacking['take']): Promise<void> {
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  const goesOn = () => broken('gzip', new Error('something follows its padding'));
  try {
    await pipeline(source, gunzip, taking(take));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PUSH_AFTER_EOF' ? goesOn() : error;
  }
  for await (const rest of createReadStream(path, { start: gunzip.bytesWritten }) as AsyncIterable<Buffer>)
    if (rest.some((byte) => byte !== 0)) throw goesOn();
}

/** Unpacks each frame by itself. */
async function unpackFrames(source: Readable, take: Unpacking['take']): Promise<void> {
  const pieces = piecesOf(source);
  try {
    for (let first = await pieces.next(); first.done !== true; first = await pieces.next()) {
      const frame = Readable.from(frameFrom(first.value, pieces));
      await pipeline(frame, createZstdDecompress({ chunkSize: chunkBytes }), taking(take));
    }
  } finally {
    source.destroy();
  }
}

async function* piecesOf(source: Readable): AsyncGenerator<FramePiece, void> {
  const frames = new ZstdFrames();
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) yield* frames.cut(chunk);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === undefined ? broken('zstd', error as Error) : error;
  }
  if (!frames.isWhole) throw broken('zstd', new Error('it ends within a frame'));
}

async function* frameFrom(first: FramePiece, pieces: AsyncGenerator<FramePiece, void>): AsyncGenerator<Buffer> {
  for (let piece: FramePiece | undefined = first; ;) {
    yield piece.bytes;
    if (piece.ends) return;
    const next: IteratorResult<FramePiece, void> = await pieces.next();
    if (next.done === true) return;
    piece = next.value;
  }
}

/** The library unpacks while it is written to, and takes what its listeners throw for errors of its own. */
async function unpackBzip2(path: string, { onBytes, take }: Unpacking): Promise<void> {
  const stream = unbzip2();
  let thrown: { error: unknown } | undefined;
  let damage: Error | undefined;
  stream.on('data', (chunk: Buffer) => {
    if (thrown !== undefined) return;
    try {
      take(chunk);
    } catch (error) {
      thrown = { error };
    }
  });
  stream.on('error', (error: Error) => {
    damage ??= error;
  });
  const assertFine = () => {
    if (thrown !== undefined) throw thrown.error;
    // Its messages are of no use to anybody else.
    if (damage !== undefined) throw broken('bzip2');
  };
  await readThrough(path, (bytes) => {
    onBytes(bytes);
    // It keeps what it is given until it has a whole block.
    stream.write(Buffer.from(bytes));
    assertFine();
  });
  stream.end();
  assertFine();
}

/** Hands on the only member of a zip. */
export async function unpackZip(members: ZipMembers, take: (chunk: Buffer) => void): Promise<void> {
  const names = members.names.filter((name) => !name.endsWith('/') && !name.startsWith('__MACOSX/'));
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw new UnusableFile({
      reason: 'not_one_member',
      detail: `the zip holds ${names.length} files, not exactly one: ${names.slice(0, 3).join(', ')}; land each by itself`,
    });
  await members.read(name, take);
}

function broken(packing: Packing, error?: Error): UnusableFile {
  const why = error === undefined ? '' : `: ${error.message}`;
  return new UnusableFile({
    reason: `broken_${packing}`,
    detail: `the ${packing} is truncated or damaged${why}`,
  });
}
