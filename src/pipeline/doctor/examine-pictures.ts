import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { severalAtOnce } from '../../kit/files/several-at-once.ts';
import { isPictureIntact, mirroredFiles } from '../../pictures/picture-files.ts';
import { trouble, type Finding } from './finding.ts';

/** Reads all mirrored pictures, and checks their bytes against their names, which are digests. */
export async function examinePictures({
  pictures,
}: DataDirectory): Promise<{ findings: Finding[]; damaged: string[] }> {
  const damaged: string[] = [];
  await severalAtOnce((await mirroredFiles(pictures)).whole, async (file) => {
    if (!(await isPictureIntact(pictures, file))) damaged.push(join(pictures, file));
  });
  const findings = damaged
    .toSorted()
    .map((path) =>
      trouble(
        'pictures',
        path,
        'does not have the bytes that its name says, so clients are sent to the advertiser',
        'it is removed, and the next `offerline pictures` asks for it again',
      ),
    );
  return { findings, damaged };
}
