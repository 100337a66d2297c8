import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { constants } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openAppendFile } from '../../../src/kit/files/append-file.ts';

async function opened(isForced: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'offerline-append-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'log');
  const file = await openAppendFile(path, isForced);
  onTestFinished(() => file.close());
  return { file, path, text: () => readFileSync(path, 'utf8') };
}

it.for([true, false])('an addition is forced to the disk by the call that makes it: %s', async (isForced, context) => {
  if (!existsSync('/proc/self/fdinfo')) context.skip('only Linux shows how a file was opened');
  const { path } = await opened(isForced);
  const number = readdirSync('/proc/self/fd').find((each) => pointsTo(each) === path);
  const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'utf8'))?.[1] ?? '';
  expect((Number.parseInt(flags, 8) & constants.O_DSYNC) !== 0).toBe(isForced);
});

/** Undefined for a descriptor that is closed by now. */
function pointsTo(number: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${number}`);
  } catch {
    return undefined;
  }
}

it.each([true, false])('goes on at its end, also after a cut; forced: %s', async (isForced) => {
  const { file, text } = await opened(isForced);
  const large = Buffer.alloc(300 * 1024, 'x');
  expect(await file.append(Buffer.from('one\n'), 'appended')).toBe(4);
  expect(await file.append(large, 'appended')).toBe(large.length);
  await file.truncate(4, 'cut');
  await file.append(Buffer.from('two\n'), 'appended');
  expect(text()).toBe('one\ntwo\n');
  expect((await file.read(4, 100)).toString()).toBe('two\n');
});

it('is never one that is there already', async () => {
  const { path } = await opened(false);
  await expect(openAppendFile(path, false)).rejects.toThrow('EEXIST');
});

it('knows when it was moved, and can still be read', async () => {
  const { file, path } = await opened(false);
  await file.append(Buffer.from('one\n'), 'appended');
  expect(await file.isAt(path)).toBe(true);
  renameSync(path, `${path}.moved`);
  expect([await file.isAt(path), await file.isAt(`${path}.moved`)]).toEqual([false, true]);
  rmSync(`${path}.moved`);
  expect((await file.read(0, 100)).toString()).toBe('one\n');
});
