import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openLogFile } from '../../src/files/log-file.ts';

it.for([true, false])(
  'a file of which additions are forced: %s has the system see to that',
  async (isForced, context) => {
    if (!existsSync('/proc/self/fdinfo')) context.skip('only Linux tells how a file was opened');
    const folder = mkdtempSync(join(tmpdir(), 'offerline-log-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'log');
    const file = await openLogFile(path, isForced);
    onTestFinished(() => file.close());
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
