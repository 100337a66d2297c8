import { secretDigest, newToken } from './users.ts';

const linkMilliseconds = 10 * 60_000;

/** The one-time link for the person who started the console, valid for ten minutes. Only the newest one is valid. */
export class EnterLink {
  #current: { digest: string; expiresAt: number } | undefined;

  /** Returns a path of the console. */
  issue(now: number): string {
    const token = newToken();
    this.#current = { digest: secretDigest(token), expiresAt: now + linkMilliseconds };
    return `/enter/${token}`;
  }

  /** Returns whether the token is valid, and makes it invalid. */
  use(token: string, now: number): boolean {
    const current = this.#current;
    if (current === undefined || current.digest !== secretDigest(token)) return false;
    this.#current = undefined;
    return now < current.expiresAt;
  }
}
