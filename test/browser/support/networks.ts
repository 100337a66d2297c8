import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { TestProject } from 'vitest/node';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { command } from '../../support/commands.ts';
import { copyFolder } from '../../support/copy-folder.ts';

/** The moment of the last publish. */
export const asOf = '2025-03-10T12:34:56Z';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the network that tests get copies of. */
    network: string;
  }
}

/** Makes, before the tests, the network that `sharedNetwork` copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await makeNetwork(7);
  project.provide('network', folder);
  return () => rm(folder, { recursive: true, force: true });
}

/** A copy of one random network; removed when the test ends. */
export async function sharedNetwork(): Promise<DataDirectory> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const data = new DataDirectory(join(folder, 'data'));
  await copyFolder(inject('network'), data.root);
  return data;
}

/** A random network of the test's own; removed when that ends. */
export async function randomNetwork(seed: number): Promise<DataDirectory> {
  const folder = await makeNetwork(seed);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return new DataDirectory(folder);
}

/** With figures of some days, published twice. */
async function makeNetwork(seed: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-'));
  const options = ['--clicks', '4000', '--days', '12', '--seed', String(seed), '--end', asOf];
  await command(folder, 'generate', '--out', folder, ...options);
  for (const each of ['2025-03-10T01:00:00Z', asOf]) await command(folder, 'run', 'refresh', '--as-of', each);
  return folder;
}
