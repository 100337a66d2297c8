import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { command } from '../../support/commands.ts';

/** The moment of the last publish. */
export const asOf = '2025-03-10T12:34:56Z';

/** A random network with figures of some days, published twice; removed when the test ends. */
export async function randomNetwork(seed: number): Promise<DataDirectory> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const options = ['--clicks', '4000', '--days', '12', '--seed', String(seed), '--end', asOf];
  await command(folder, 'generate', '--out', folder, ...options);
  for (const each of ['2025-03-10T01:00:00Z', asOf]) await command(folder, 'run', 'refresh', '--as-of', each);
  return new DataDirectory(folder);
}
