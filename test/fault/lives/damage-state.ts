import { existsSync } from 'node:fs';
import { open, rm, truncate } from 'node:fs/promises';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import type { Random } from '../../../src/demo/generate/network/random.ts';

const damages = ['cut', 'zeros', 'flipped byte', 'gone'] as const;

/**
 * Damages the state's log, or where there is none the state, as a failing disk does: cut, zero-filled, one byte
 * flipped, or gone.
 */
export async function damageState(data: DataDirectory, random: Random): Promise<void> {
  const log = `${data.stateFile}.wal`;
  const path = existsSync(log) ? log : data.stateFile;
  if (!existsSync(path)) return;
  const damage = random.pick(damages);
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const at = Math.floor(random.next() * size);
    if (damage === 'zeros') await file.write(Buffer.alloc(size - at), 0, size - at, at);
    if (damage === 'flipped byte' && size > 0) {
      const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
      await file.write(Buffer.from([(buffer[0] ?? 0) ^ 0x10]), 0, 1, at);
    }
    // A log that is gone or cut is what the operating system had not written yet: that cannot be told from a run that
    // never came so far.
    if (damage === 'cut') await truncate(path, path === log ? at : Math.floor(size / 3));
  } finally {
    await file.close();
  }
  if (damage === 'gone') await rm(path);
}
