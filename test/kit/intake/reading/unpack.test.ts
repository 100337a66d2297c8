import fc from 'fast-check';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UnusableFile } from '../../../../src/kit/intake/reading/record-sink.ts';
import { unpack } from '../../../../src/kit/intake/reading/unpack.ts';
import { ZstdFrames } from '../../../../src/kit/intake/reading/zstd-frames.ts';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'offerline-'))));
afterAll(() => rm(folder, { recursive: true }));

async function unpacked(bytes: Uint8Array, packing: 'gzip' | 'zstd' = 'zstd'): Promise<string> {
  const path = join(folder, 'packed');
  await writeFile(path, bytes);
  const chunks: Buffer[] = [];
  await unpack(path, packing, { onBytes: () => {}, take: (chunk) => void chunks.push(Buffer.from(chunk)) });
  return Buffer.concat(chunks).toString('utf8');
}

const packed = (text: string, checksum: boolean) =>
  zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: checksum ? 1 : 0 } });
const skippable = Buffer.concat([Buffer.from('502a4d1803000000', 'hex'), Buffer.from('abc')]);

it('all frames of zstd are unpacked, however they are cut', async () => {
  const texts = ['', 'a', 'xyz'.repeat(100_000), Array.from({ length: 30_000 }, (_, index) => `${index ** 3}`).join()];
  const frames = texts.map((text, index) => packed(text, index % 2 === 0));
  expect(await unpacked(Buffer.concat([skippable, ...frames, skippable]))).toBe(texts.join(''));
});

it('frames of zstd are cut apart, however they come', () => {
  const texts = ['', 'a', 'xyz'.repeat(5000), Array.from({ length: 300 }, (_, index) => `${index ** 3}`).join()];
  const frames = texts.map((text, index) => packed(text, index % 2 === 0));
  fc.assert(
    fc.property(fc.shuffledSubarray(frames), fc.integer({ min: 1, max: 400 }), (some, chunkBytes) => {
      const bytes = Buffer.concat([...some, skippable]);
      const cutter = new ZstdFrames();
      const found: Buffer[][] = [[]];
      for (let at = 0; at < bytes.length; at += chunkBytes)
        for (const piece of cutter.cut(bytes.subarray(at, at + chunkBytes))) {
          found.at(-1)?.push(piece.bytes);
          if (piece.ends) found.push([]);
        }
      expect(cutter.isWhole).toBe(true);
      expect(found.slice(0, -1).map((pieces) => Buffer.concat(pieces))).toEqual(some);
    }),
  );
});

it('a frame that is cut or damaged, or something behind it, is told', async () => {
  const frame = packed('some text that is not short', true);
  for (let bytes = 4; bytes < frame.length; bytes++)
    await expect(unpacked(Buffer.concat([frame, frame.subarray(0, bytes)]))).rejects.toBeInstanceOf(UnusableFile);
  const damaged = Buffer.from(frame);
  damaged.writeUInt8(damaged.readUInt8(12) ^ 1, 12);
  await expect(unpacked(damaged)).rejects.toBeInstanceOf(UnusableFile);
  await expect(unpacked(Buffer.concat([frame, Buffer.from('more than nothing')]))).rejects.toBeInstanceOf(UnusableFile);
});

it('zeros behind the members of gzip are padding, and nothing may follow them', async () => {
  const [one, other] = [gzipSync('one'), gzipSync('other')];
  for (const zeros of [0, 16, 5_000_000])
    expect(await unpacked(Buffer.concat([one, other, Buffer.alloc(zeros)]), 'gzip')).toBe('oneother');
  for (const zeros of [1, 16, 5_000_000])
    await expect(unpacked(Buffer.concat([one, Buffer.alloc(zeros), other]), 'gzip')).rejects.toMatchObject({
      problem: { reason: 'broken_gzip' },
    });
});

it('a member of gzip behind padding that ends with a chunk of the file is refused as any other', async () => {
  const [one, other] = [gzipSync('one'), gzipSync('other')];
  const chunk = 4 * 1024 * 1024;
  for (const further of [other, Buffer.concat([other, other, Buffer.alloc(chunk)]), Buffer.concat([other, one])])
    for (const chunks of [1, 2])
      await expect(
        unpacked(Buffer.concat([one, Buffer.alloc(chunks * chunk - one.length), further]), 'gzip'),
      ).rejects.toMatchObject({
        problem: {
          reason: 'broken_gzip',
          detail: 'the gzip is truncated or damaged: something follows its padding',
        },
      });
});
