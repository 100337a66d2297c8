import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLogFile } from '../../src/files/log-file.ts';

async function openedLog(isForced: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'offerline-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'log');
  const file = await openLogFile(path, isForced);
  onTestFinished(() => file.close());
  return { file, path, text: () => readFileSync(path, 'utf8'), size: () => statSync(path).size };
}

it.for([true, false])(
  'a file of which additions are forced: %s has the system see to that',
  async (isForced, context) => {
    if (!existsSync('/proc/self/fdinfo')) context.skip('only Linux tells how a file was opened');
    const { file, path } = await openedLog(isForced);
    expect(await file.append(Buffer.from('a row\n'), 'appended')).toBe(6);
    expect(readFileSync(path, 'utf8').replace(/\0+$/, '')).toBe('a row\n');
    const opened = readdirSync('/proc/self/fd').find((number) => pointsTo(number) === path);
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${opened}`, 'utf8'))?.[1] ?? '';
    expect((Number.parseInt(flags, 8) & constants.O_DSYNC) !== 0).toBe(isForced);
  },
);

/** Those that are gone by now point to nothing. */
function pointsTo(number: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${number}`);
  } catch {
    return undefined;
  }
}

describe('a file that is added to', () => {
  it.each([true, false])(
    'has room before it is needed, which no row changes the size of; forced: %s',
    async (isForced) => {
      const { file, text, size } = await openedLog(isForced);
      await file.append(Buffer.from('one\n'), 'appended');
      const before = size();
      await file.append(Buffer.from('two\n'), 'appended');
      expect([size(), text().replace(/\0+$/, '')]).toEqual([before, 'one\ntwo\n']);
      expect(before).toBeGreaterThan(1000);
    },
  );

  it.each([true, false])('takes more than its room, and goes on after a cut; forced: %s', async (isForced) => {
    const { file, text } = await openedLog(isForced);
    const large = Buffer.alloc(300 * 1024, 'x');
    await file.append(Buffer.from('one\n'), 'appended');
    expect(await file.append(large, 'appended')).toBe(large.length);
    await file.append(Buffer.from('\nthree\n'), 'appended');
    expect(text().replace(/\0+$/, '')).toBe(`one\n${large.toString()}\nthree\n`);
    await file.truncate(4, 'cut');
    expect(text()).toBe('one\n');
    await file.append(Buffer.from('two\n'), 'appended');
    expect(text().replace(/\0+$/, '')).toBe('one\ntwo\n');
  });
});
