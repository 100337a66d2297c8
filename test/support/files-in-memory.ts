import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
const prefix = 'offerline-tests-';
/** Five times what the suite needs at once. Bytes. */
const enoughRoom = 2 * 1024 ** 3;

/**
 * Lets the temporary files of a run of the suite lie in memory where there is room, and removes them after it: a tenth
 * of its time is the disk's, and no test cuts the power. A `TMPDIR` that is given is left as it is.
 */
export default function keepFilesInMemory(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined || freeOf(memory) < enoughRoom) return undefined;
  removeLeftovers();
  // Compiled code is used again by the next run.
  process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache');
  const folder = join(memory, `${prefix}${process.pid}`);
  // Passed through, not listed: PostgreSQL, which refuses to run as root, has a folder of its own in it.
  mkdirSync(folder, { mode: 0o711 });
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** 0 where there is no such folder, none to write to, or one whose programs do not run: some tests write one. */
function freeOf(folder: string): number {
  try {
    accessSync(folder, constants.W_OK);
    const options = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      // The last one lies on top.
      .findLast((line) => line.split(' ')[1] === folder);
    if (options === undefined || options.includes('noexec')) return 0;
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Of runs that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(memory).filter((each) => each.startsWith(prefix)))
    if (!isAlive(Number(name.slice(prefix.length)))) rmSync(join(memory, name), { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
