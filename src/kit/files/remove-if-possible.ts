import { rmSync } from 'node:fs';

/**
 * Removes a file of a process that ends, and returns the error where the disk does not allow it: the rest of the end,
 * such as a lock or a listener, must not depend on it.
 */
export function removeIfPossible(file: string): Error | undefined {
  try {
    rmSync(file, { force: true });
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
