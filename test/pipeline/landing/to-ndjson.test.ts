import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { StoppedError } from '../../../src/kit/errors/errors.ts';
import { sha256Of } from '../../../src/kit/files/read-through.ts';
import { checkFile, checkFiles } from '../../../src/pipeline/landing/files/check-files.ts';
import { UnusableFile } from '../../../src/kit/intake/reading/record-sink.ts';
import { toNdjson } from '../../../src/pipeline/landing/lines/to-ndjson.ts';
import { linesOfFile } from '../../support/lines-of-file.ts';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'offerline-'))));
afterAll(() => rm(folder, { recursive: true }));

const long = 'x'.repeat(17 * 2 ** 20);
const behind = `${'y'.repeat(1000)}\n`.repeat(20_000);
const texts = {
  'a.ndjson': Buffer.from(`${long}\n${behind}`),
  'b.csv': Buffer.from(`click_id\n"${long}"\n${behind}`),
  'c.json': Buffer.from(`[{"click_id":"${long}"},${behind}`),
  // Without a line's end, as of a disk's empty blocks.
  'd.ndjson': Buffer.alloc(40 * 2 ** 20),
  'e.ndjson.gz': gzipSync(`${long}\n${behind}`),
};

it.each(Object.entries(texts))('%s is read no further than its line that is too long', async (name, bytes) => {
  const path = join(folder, name);
  await writeFile(path, bytes);
  const about = await stat(path, { bigint: true });
  const file = {
    kind: 'clicks' as const,
    absolutePath: path,
    bytes: bytes.length,
    modifiedNs: about.mtimeNs,
    changedNs: about.ctimeNs,
  };
  let read = 0;
  const onBytes = (chunk: Buffer) => void (read += chunk.length);
  const taking = toNdjson(file, join(folder, 'plain'), { maxUnpackedBytes: Infinity, onBytes });
  await expect(taking).rejects.toBeInstanceOf(UnusableFile);
  // A packed file is read as it is unpacked: of this one all that is packed comes in one chunk.
  expect(read).toBeLessThan(name.endsWith('.gz') ? Infinity : bytes.length - 4 * 2 ** 20);
  expect(await checkFile(file, { scratchPath: join(folder, 'plain') })).toMatchObject({
    problem: { reason: 'line_too_long' },
    sha256: await sha256Of(path),
  });
});

it('lines that end by a carriage return alone are counted each, however many bytes they have', async () => {
  const path = join(folder, 'returns.ndjson');
  const line = '{"click_id":"c"}\r';
  const lines = Math.ceil((17 * 2 ** 20) / line.length);
  await writeFile(path, `${line.repeat(lines)}{"click_id":"${'y'.repeat(20_000)}"}\r${line}`);
  const about = await stat(path, { bigint: true });
  const checked = await checkFile(
    {
      kind: 'clicks',
      absolutePath: path,
      bytes: Number(about.size),
      modifiedNs: about.mtimeNs,
      changedNs: about.ctimeNs,
    },
    { scratchPath: join(folder, 'returned') },
  );
  // The long line is the one that is read apart.
  expect(checked).toMatchObject({ longLines: [{ rows: [lines + 1] }] });
  expect(checked).not.toHaveProperty('problem');
});

it.each([
  ['texts are read at once', `"${'x'.repeat(10 ** 6)}"`, [[1, 2, 3, 4, 5, 6]]],
  ['numbers are read by parts', `[0${',0'.repeat(45_000)}]`, [[1, 2, 3, 4, 5], [6]]],
])('long lines of %s', async (_what, value, together) => {
  const { longLines } = await linesOfFile(`{"click_id":"c","other":${value}}\n`.repeat(6), { name: 'a.ndjson' });
  expect(longLines.map(({ rows }) => rows)).toEqual(together);
});

it.each([1, 40])('reading that is asked to end does so before all %s MB are unpacked', async (megabytes) => {
  const path = join(folder, `stopped-${megabytes}.ndjson.gz`);
  // Barely packed, so that the larger file is read by workers.
  await writeFile(path, gzipSync(Buffer.alloc(megabytes * 1e6, '{}\n'), { level: 0 }));
  const { size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  const file = {
    kind: 'clicks' as const,
    source: null,
    path: 'clicks/a.ndjson.gz',
    absolutePath: path,
    bytes: Number(size),
    modifiedNs: mtimeNs,
    changedNs: ctimeNs,
  };
  const stopping = new AbortController();
  const reading = checkFiles([file], folder, { stop: stopping.signal });
  stopping.abort();
  await expect(reading).rejects.toBeInstanceOf(StoppedError);
});
