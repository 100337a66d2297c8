import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { realEffects } from '../../src/kit/files/effects.ts';
import { writeExport } from '../../src/sources/offer-export.ts';
import { nodeArguments } from '../support/command-line.ts';

const source = (path: string) => new URL(`../../src/${path}`, import.meta.url).href;

it('content is written where it differs from the last file, also after a clock was ahead', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = (content: string, day: string) =>
    writeExport(folder, [Buffer.from(content)], `2026-${day}T12:00:00.000000Z`, realEffects);
  expect(await write('A', '12-30')).not.toBeNull();
  expect(await write('B', '11-20')).not.toBeNull();
  expect(await write('B', '11-21')).toBeNull();
  expect(await write('A', '11-22')).not.toBeNull();
  expect(await write('A', '11-23')).toBeNull();
});

it('an export that the disk takes only some of fails, and gets no name', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = `
    import { writeExport } from '${source('sources/offer-export.ts')}';
    import { realEffects } from '${source('kit/files/effects.ts')}';
    const lines = Array.from({ length: 900 }, () => Buffer.from('x'.repeat(999) + '\\n'));
    const name = await writeExport(${JSON.stringify(folder)}, lines, '2026-11-20T12:00:00.000000Z', realEffects)
      .catch(({ code }) => code);
    console.log(name);`;
  // The system cuts a write at the limit of a file, as at the end of a disk, and says so with the next one.
  const words = ['-c', 'ulimit -f 300 && exec "$0" "$@"', process.execPath, ...nodeArguments];
  const { stdout } = await promisify(execFile)('sh', [...words, '--input-type=module', '-e', program]);
  expect(stdout.trim()).toBe('EFBIG');
  expect((await readdir(folder)).filter((name) => !name.endsWith('.part'))).toEqual([]);
});
