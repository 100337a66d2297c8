import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

/** An installed package has JavaScript in few files; a checkout and the image have the TypeScript that is here. */
export const isBundled = extname(import.meta.filename) === '.js';

const root = rootAbove(import.meta.dirname);

/** Returns the absolute path of a file or folder, by its path in the repository, such as `sql/migrations`. */
export function packageFile(path: string): string {
  return join(root, path);
}

/**
 * Returns the absolute path of a program that a process or thread of its own runs, by its path in the repository
 * without its ending, such as `src/cli/main`. `release/bundle.ts` lists those of an installed package.
 */
export function programFile(path: string): string {
  return packageFile(path + (isBundled ? '.js' : '.ts'));
}

/** Returns the version of offerline that runs. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
}

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const above = dirname(folder);
  if (above === folder) throw new Error(`no folder above ${import.meta.dirname} has a package.json`);
  return rootAbove(above);
}
