import { statSync } from 'node:fs';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { closeFolder } from '../../kit/files/effects.ts';
import { trouble, type Finding } from './finding.ts';

const everybody = 0o007;
const everybodyEnters = 0o001;

/**
 * Finds folders with users and addresses that everybody on the machine may read, as a copy or an older version may have
 * made them. Rights of a group were given on purpose.
 */
export function examineAccess(data: DataDirectory): Finding[] {
  if (((modeAndOwner(data.root)?.mode ?? 0) & everybodyEnters) === 0) return [];
  return data.privateFolders.flatMap((folder) => {
    const found = modeAndOwner(folder);
    if (found === undefined || (found.mode & everybody) === 0) return [];
    const mode = (found.mode & 0o777).toString(8);
    return [
      trouble(
        'access',
        folder,
        `is open to everybody on this machine (mode ${mode}), and has users and addresses`,
        `it becomes its owner’s alone, as by \`chmod 700 ${folder}\``,
        { repairable: [found.uid, 0].includes(process.getuid?.() ?? found.uid) },
      ),
    ];
  });
}

/** Repairs what `examineAccess` found. */
export function closeFolders(findings: readonly Finding[]): void {
  for (const { check, subject, repairable } of findings) if (check === 'access' && repairable) closeFolder(subject);
}

function modeAndOwner(folder: string): { mode: number; uid: number } | undefined {
  return statSync(folder, { throwIfNoEntry: false });
}
