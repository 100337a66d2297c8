import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder, ownerWithin, realEffects, replaceFile } from '../../kit/files/effects.ts';
import { secretDigest, newToken } from './users.ts';

const linkMilliseconds = 10 * 60_000;

/** A link that lets in once; its token is not kept. */
interface StoredLink {
  digest: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/**
 * The one-time links for the person who started the console, valid for ten minutes: the newest one of this process, and
 * the newest one that a command wrote into `file`.
 */
export class EnterLink {
  readonly #file: string;
  #current: StoredLink | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Returns a path of the console. */
  issue(now: number): string {
    const { path, stored } = newLink(now);
    this.#current = stored;
    return path;
  }

  /** Returns whether the token is valid, and makes it invalid. */
  use(token: string, now: number): boolean {
    const digest = secretDigest(token);
    const written = readLink(this.#file);
    const used = [this.#current, written].find((link) => link?.digest === digest);
    if (used === undefined) return false;
    if (used === written) rmSync(this.#file, { force: true });
    else this.#current = undefined;
    return now < used.expiresAt;
  }
}

/** Writes a link for the console that runs, in place of the one written before. Returns a path of the console. */
export async function writeEnterLink(file: string, now: number): Promise<string> {
  const { path, stored } = newLink(now);
  const folder = dirname(file);
  makePrivateFolder(folder);
  const text = `${JSON.stringify(stored)}\n`;
  await replaceFile(file, text, 'console link', realEffects.files, 0o600, ownerWithin(folder));
  return path;
}

function newLink(now: number): { path: string; stored: StoredLink } {
  const token = newToken();
  return { path: `/enter/${token}`, stored: { digest: secretDigest(token), expiresAt: now + linkMilliseconds } };
}

/** Undefined where no command wrote one, or none that can be read. */
function readLink(file: string): StoredLink | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StoredLink;
  } catch {
    return undefined;
  }
}
