import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DataDirectory } from '../config/data-directory.ts';
import { replaceFile, type Effects } from './effects.ts';
import { compactText, momentOfMilliseconds } from '../time/moment.ts';

/**
 * A new folder under `warehouse/put-aside` for one finding: the damaged files and the reason. offerline never reads it
 * again.
 */
export class QuarantineFolder {
  readonly path: string;
  readonly #data: DataDirectory;
  readonly #effects: Effects;

  private constructor(data: DataDirectory, effects: Effects, path: string) {
    this.#data = data;
    this.#effects = effects;
    this.path = path;
  }

  /** Makes a folder named after the moment, or the folder `name`, whose former content it removes. */
  static async make(data: DataDirectory, reason: string, effects: Effects, name?: string): Promise<QuarantineFolder> {
    const moment = compactText(momentOfMilliseconds(effects.now()));
    let path = join(data.quarantine, name ?? moment);
    if (name !== undefined) await effects.files.remove(path, 'what was put aside before: removed');
    for (let again = 2; existsSync(path); again++) path = join(data.quarantine, `${moment}-${again}`);
    await effects.files.makeDirectory(path);
    await replaceFile(join(path, 'reason.txt'), `${reason}\n`, 'reason of putting aside', effects.files);
    return new QuarantineFolder(data, effects, path);
  }

  /** Moves a file of the warehouse here and keeps the names of its folders. Skips a file that is gone. */
  async moveIn(path: string): Promise<void> {
    if (!existsSync(path)) return;
    await this.#effects.files.rename(path, await this.#place(path), 'damaged file: put aside');
    await this.#effects.files.syncDirectory(dirname(path), 'damaged file: folder synced');
  }

  /** Links the file here, and leaves it where it is until another takes its name. Skips a file that is gone. */
  async linkIn(path: string): Promise<void> {
    if (existsSync(path)) await this.#effects.files.hardLink(path, await this.#place(path), 'damaged file: kept aside');
  }

  async #place(path: string): Promise<string> {
    const within = relative(this.#data.warehouse, path);
    const target = join(this.path, within.startsWith('..') ? basename(path) : within);
    await this.#effects.files.makeDirectory(dirname(target));
    return target;
  }
}
