import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { startListening } from '../support/listening-process.ts';
import { slow } from '../support/slow.ts';

/** A command that does not stop shows soon. */
const options = { ...slow, timeout: 30_000 };

it.each([
  ['track', ({ trackerAddressFile }: DataDirectory) => trackerAddressFile],
  ['console', ({ consoleAddressFile }: DataDirectory) => consoleAddressFile],
])('`%s` stops where the file of its address cannot be removed', options, async (command, fileOf) => {
  const data = new DataDirectory(mkdtempSync(join(tmpdir(), 'offerline-address-')));
  onTestFinished(() => rmSync(data.root, { recursive: true }));
  const listening = await startListening(data.root, command);
  onTestFinished(() => void listening.child.kill('SIGKILL'));
  // A folder in its place, as a disk that takes no more writes, is not removed.
  rmSync(fileOf(data), { force: true });
  mkdirSync(fileOf(data));
  await listening.end('SIGTERM');
  expect(listening.child.exitCode, listening.log()).toBe(0);
  await expect(fetch(listening.address)).rejects.toThrow();
});
