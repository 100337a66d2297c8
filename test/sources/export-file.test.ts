import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { realEffects } from '../../src/kit/files/effects.ts';
import { writeExport } from '../../src/sources/offer-export.ts';
import { nodeArguments } from '../support/command-line.ts';

const source = (path: string) => new URL(`../../src/${path}`, import.meta.url).href;

it('offers are written again where a newer file that no pull wrote decides', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  let hour = 10;
  const dated = async (name: string, at: string) => utimes(join(folder, name), new Date(at), new Date(at));
  const put = async (name: string, at: string) => {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), '{}\n');
    await dated(name, at);
  };
  const write = async () => {
    const at = `2025-11-20T${hour++}:00:00`;
    const name = await writeExport(folder, [Buffer.from('{"external_id":"1"}\n')], `${at}.000000Z`, realEffects);
    if (name !== null) await dated(name, `${at}Z`);
    return name;
  };
  expect(await write()).not.toBeNull();
  expect(await write()).toBeNull();
  await put('older.json', '2025-11-20T09:00:00Z');
  for (const name of ['notes.md', '.hidden.json', 'later.json.part', '_old/all.json'])
    await put(name, '2025-11-20T12:30:00Z');
  expect(await write()).toBeNull();
  await put('by-hand/all.csv.gz', '2025-11-20T12:30:00Z');
  expect(await write()).toMatch(/^pull-20251120T130000Z-/);
  expect(await write()).toBeNull();
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
