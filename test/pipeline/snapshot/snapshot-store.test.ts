import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { currentManifest, currentName, switchCurrent } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import { makeCurrent, temporaryData } from '../../support/published-snapshot.ts';

let data: DataDirectory;
beforeEach(async () => {
  const made = await temporaryData();
  onTestFinished(made.remove);
  ({ data } = made);
});

it('no snapshot is current where there is no link, and the one that it names even where that is gone', async () => {
  expect(await currentName(data)).toBeUndefined();
  await makeCurrent(data, '00000001-gone');
  expect(await currentName(data)).toBe('00000001-gone');
  expect(await currentManifest(data)).toBeUndefined();
});

it('a file in the place of the link is reported, not ignored', async () => {
  await writeFile(data.current, '');
  await expect(currentName(data)).rejects.toThrow(/current is no link: move it away, and `offerline doctor --repair`/);
  expect(await currentManifest(data)).toBeUndefined();
});

it('a folder in its place is reported where the link is to be switched, and a file is replaced', async () => {
  await mkdir(data.current);
  const switching = () => switchCurrent(data, '00000001-next', realEffects.files);
  await expect(switching()).rejects.toThrow(/current is no link: move it away/);
  await rmdir(data.current);
  await writeFile(data.current, '');
  await switching();
  expect(await currentName(data)).toBe('00000001-next');
});
