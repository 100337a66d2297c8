import { secretDigest, newToken, type ConsoleUser } from './users.ts';

export const sessionMilliseconds = 12 * 3_600_000;
/** Limit far above the number of people: a script that signs in again and again must not fill the memory. */
const maxSessions = 1000;

interface Session extends ConsoleUser {
  /** The digest of the user's token; undefined for the one-time link. */
  tokenDigest: string | undefined;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** Sessions in memory, by the digest of the cookie's secret. A restart ends them all. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  /** Starts a session and returns the secret of its cookie. Beyond the limit the oldest session ends. */
  start(user: ConsoleUser, tokenDigest: string | undefined, now: number): string {
    for (const [key, { expiresAt }] of this.#sessions) if (expiresAt <= now) this.#sessions.delete(key);
    // A Map keeps the order of insertion, which is that of age.
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= maxSessions && oldest !== undefined) this.#sessions.delete(oldest);
    const secret = newToken();
    const { name, role } = user;
    this.#sessions.set(secretDigest(secret), { name, role, tokenDigest, expiresAt: now + sessionMilliseconds });
    return secret;
  }

  find(secret: string, now: number): Readonly<Session> | undefined {
    const session = this.#sessions.get(secretDigest(secret));
    return session !== undefined && session.expiresAt > now ? session : undefined;
  }

  end(secret: string): void {
    this.#sessions.delete(secretDigest(secret));
  }
}
