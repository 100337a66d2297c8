import { digestOf, newToken } from './users.ts';

const linkMilliseconds = 10 * 60_000;

/** The link that lets in whoever started the console: for ten minutes, once. The newest one alone is good. */
export class EnterLink {
  #waiting: { digest: string; expiresAt: number } | undefined;

  /** A path of the console. */
  issue(now: number): string {
    const token = newToken();
    this.#waiting = { digest: digestOf(token), expiresAt: now + linkMilliseconds };
    return `/enter/${token}`;
  }

  /** Whether the token is the one that waits, which it is no more afterwards. */
  use(token: string, now: number): boolean {
    const waiting = this.#waiting;
    if (waiting === undefined || waiting.digest !== digestOf(token)) return false;
    this.#waiting = undefined;
    return now < waiting.expiresAt;
  }
}
