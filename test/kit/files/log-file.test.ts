import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLogFile } from '../../../src/kit/files/log-file.ts';

async function openedLog(isForced: boolean, openFile?: typeof open) {
  const folder = mkdtempSync(join(tmpdir(), 'offerline-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'log');
  const file = await openLogFile(path, isForced, openFile);
  onTestFinished(() => file.close().catch(() => undefined));
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

  it.each([true, false])('has more room before the last is used up; forced: %s', async (isForced) => {
    const { file, size } = await openedLog(isForced);
    await file.append(Buffer.from('one\n'), 'appended');
    const first = size();
    await file.append(Buffer.alloc(first - 5000, 'x'), 'appended');
    await expect.poll(size).toBeGreaterThan(first);
  });

  describe.each([true, false])('whose room takes long to make; forced: %s', (isForced) => {
    /** With 200 KiB of rows, and more room under way until it is let through. */
    async function makingRoom() {
      let gate: Promise<void> = Promise.resolve();
      const opened = await openedLog(isForced, async (...parameters) => {
        const handle = await open(...parameters);
        if (((parameters[1] as number) & constants.O_CREAT) === 0) {
          const write = handle.write.bind(handle) as (...of: unknown[]) => Promise<unknown>;
          handle.write = (async (...of: unknown[]) => gate.then(() => write(...of))) as typeof handle.write;
        }
        return handle;
      });
      const rows = `${'r'.repeat(200 * 1024)}\n`;
      await opened.file.append(Buffer.from('one\n'), 'appended');
      const { promise, resolve: letThrough, reject: fail } = Promise.withResolvers<void>();
      gate = promise;
      await opened.file.append(Buffer.from(rows), 'appended');
      return { ...opened, before: `one\n${rows}`, letThrough, fail };
    }

    it('takes rows that have theirs', async () => {
      const { file, text, before, letThrough } = await makingRoom();
      await file.append(Buffer.from('two\n'), 'appended');
      letThrough();
      await file.append(Buffer.from('three\n'), 'appended');
      await file.close();
      expect(text().replace(/\0+$/, '') === `${before}two\nthree\n`).toBe(true);
      expect(text().length).toBeGreaterThan(300 * 1024);
    });

    it.each([100, 2000])('has rows wait that need it: %i KiB', async (kibibytes) => {
      const { file, text, before, letThrough } = await makingRoom();
      const large = `${'l'.repeat(kibibytes * 1024)}\n`;
      let isThrough = false;
      const added = file.append(Buffer.from(large), 'appended').then(() => expect(isThrough).toBe(true));
      await setImmediate();
      isThrough = true;
      letThrough();
      await added;
      await file.append(Buffer.from('three\n'), 'appended');
      expect(text().replace(/\0+$/, '') === `${before}${large}three\n`).toBe(true);
    });

    it('is as long as it was cut', async () => {
      const { file, text, letThrough } = await makingRoom();
      const cut = file.truncate(4, 'cut');
      await setImmediate();
      letThrough();
      await cut;
      expect(text()).toBe('one\n');
      await file.append(Buffer.from('two\n'), 'appended');
      expect(text().replace(/\0+$/, '')).toBe('one\ntwo\n');
    });

    it('refuses the rows that need it where it cannot be made, until it is cut', async () => {
      const { file, text, fail } = await makingRoom();
      fail(new Error('no room'));
      const large = Buffer.alloc(100 * 1024, 'l');
      await expect(file.append(large, 'appended')).rejects.toThrow('no room');
      await file.truncate(4, 'cut');
      await setImmediate();
      expect(text()).toBe('one\n');
    });
  });
});
