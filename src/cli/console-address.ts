import { readFileSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { makePrivateFolder, realEffects, replaceFile } from '../kit/files/effects.ts';
import { removeIfPossible } from '../kit/files/remove-if-possible.ts';

/** Records where a console that gives links listens, for `console link`. */
export async function recordConsoleAddress(data: DataDirectory, address: string): Promise<void> {
  makePrivateFolder(data.console);
  const content = `${JSON.stringify({ address })}\n`;
  await replaceFile(data.consoleAddressFile, content, 'console address', realEffects.files, 0o600);
}

/** Removes the address of a console that ends. One that is left is asked and does not answer, as after a kill. */
export function forgetConsoleAddress({ consoleAddressFile }: DataDirectory): void {
  removeIfPossible(consoleAddressFile);
}

/** Returns the address of the console that runs; undefined where none does, or where it gives no links. */
export async function consoleAddress({ consoleAddressFile }: DataDirectory): Promise<string | undefined> {
  try {
    const { address } = JSON.parse(readFileSync(consoleAddressFile, 'utf8')) as { address: string };
    // A console that was killed has left its file.
    await fetch(new URL('/sign-in', address), { redirect: 'manual', signal: AbortSignal.timeout(5000) });
    return address;
  } catch {
    return undefined;
  }
}
