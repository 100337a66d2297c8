import { digestOf, newToken, type ConsoleUser } from './users.ts';

export const sessionMilliseconds = 12 * 3_600_000;
/** Far more than people: each sign-in makes one, and a script that signs in must not fill the memory. */
const mostSessions = 1000;

interface Session extends ConsoleUser {
  /** Of the token that opened it; none where the one-time link did. */
  tokenDigest: string | undefined;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** Who has signed in, in memory: a restart ends all sessions. Known by the digest of what the cookie holds. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  /** Gives what the cookie is to hold. Where there are too many sessions the oldest one ends. */
  begin(user: ConsoleUser, tokenDigest: string | undefined, now: number): string {
    for (const [key, { expiresAt }] of this.#sessions) if (expiresAt <= now) this.#sessions.delete(key);
    // A Map keeps the order of insertion, which is that of age.
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= mostSessions && oldest !== undefined) this.#sessions.delete(oldest);
    const secret = newToken();
    const { name, role } = user;
    this.#sessions.set(digestOf(secret), { name, role, tokenDigest, expiresAt: now + sessionMilliseconds });
    return secret;
  }

  find(secret: string, now: number): Readonly<Session> | undefined {
    const session = this.#sessions.get(digestOf(secret));
    return session !== undefined && session.expiresAt > now ? session : undefined;
  }

  end(secret: string): void {
    this.#sessions.delete(digestOf(secret));
  }
}
