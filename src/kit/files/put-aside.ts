import { existsSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DataDirectory } from '../config/data-directory.ts';
import { replaceFile, type Effects } from './effects.ts';
import { compactText, momentOfMilliseconds } from '../time/moment.ts';

/**
 * A folder of its own for one finding, under `warehouse/put-aside`: what was damaged, and why it was moved there.
 * Nothing in it is read again.
 */
export class AsideFolder {
  readonly path: string;
  readonly #data: DataDirectory;
  readonly #effects: Effects;

  private constructor(data: DataDirectory, effects: Effects, path: string) {
    this.#data = data;
    this.#effects = effects;
    this.path = path;
  }

  /** A new folder; with `name` that one, in the place of what was in it. */
  static async make(data: DataDirectory, reason: string, effects: Effects, name?: string): Promise<AsideFolder> {
    const moment = compactText(momentOfMilliseconds(effects.now()));
    let path = join(data.putAside, name ?? moment);
    if (name !== undefined) await effects.files.remove(path, 'what was put aside before: removed');
    for (let again = 2; existsSync(path); again++) path = join(data.putAside, `${moment}-${again}`);
    await effects.files.makeDirectory(path);
    await replaceFile(join(path, 'reason.txt'), `${reason}\n`, 'reason of putting aside', effects.files);
    return new AsideFolder(data, effects, path);
  }

  /** Moves a file of the warehouse here, under the folders it lay in. What is not there any more is left out. */
  async take(path: string): Promise<void> {
    if (!existsSync(path)) return;
    await this.#effects.files.rename(path, await this.#place(path), 'damaged file: put aside');
    await this.#effects.files.syncDirectory(dirname(path), 'damaged file: folder synced');
  }

  /** The same, and leaves the file where it is until another takes its name. */
  async keep(path: string): Promise<void> {
    if (existsSync(path)) await this.#effects.files.hardLink(path, await this.#place(path), 'damaged file: kept aside');
  }

  async #place(path: string): Promise<string> {
    const within = relative(this.#data.warehouse, path);
    const target = join(this.path, within.startsWith('..') ? basename(path) : within);
    await this.#effects.files.makeDirectory(dirname(target));
    return target;
  }
}
