import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../kit/config/settings.ts';
import type { ConnectionChecks } from './connection-checks.ts';
import { sessionMilliseconds, type Sessions } from './sessions.ts';
import type { UserRegistry } from './user-registry.ts';
import { roles, userName, type ConsoleUser } from './users.ts';

/** Finds the user of a request: by the header of a trusted proxy, else by the session's cookie. */
export class Authenticator {
  readonly #header: Settings['console']['proxy_header'];
  readonly #connectionChecks: ConnectionChecks;
  readonly #users: UserRegistry;
  readonly #sessions: Sessions;

  constructor(
    header: Settings['console']['proxy_header'],
    connectionChecks: ConnectionChecks,
    users: UserRegistry,
    sessions: Sessions,
  ) {
    this.#header = header;
    this.#connectionChecks = connectionChecks;
    this.#users = users;
    this.#sessions = sessions;
  }

  identify(request: FastifyRequest, now: number): ConsoleUser | null {
    const byProxy = this.#byProxy(request);
    if (byProxy !== undefined) return byProxy;
    const secret = request.cookies[this.#cookieName(request)];
    const session = secret === undefined ? undefined : this.#sessions.find(secret, now);
    if (session === undefined) return null;
    const { name, role, tokenDigest } = session;
    // A session of the one-time link belongs to no user of the file.
    if (tokenDigest === undefined) return { name, role };
    // A removed user, or one with a new token, loses the old session. A new role holds at once.
    const user = this.#users.named(name);
    return user?.token_sha256 === tokenDigest ? { name, role: user.role } : null;
  }

  /** Starts a session, in place of the one that the browser may have. */
  signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    user: ConsoleUser,
    tokenDigest: string | undefined,
    now: number,
  ) {
    this.#end(request);
    reply.setCookie(this.#cookieName(request), this.#sessions.start(user, tokenDigest, now), {
      ...this.#cookieOptions(request),
      maxAge: sessionMilliseconds / 1000,
    });
  }

  signOut(request: FastifyRequest, reply: FastifyReply): void {
    this.#end(request);
    reply.clearCookie(this.#cookieName(request), this.#cookieOptions(request));
  }

  #end(request: FastifyRequest): void {
    const secret = request.cookies[this.#cookieName(request)];
    if (secret !== undefined) this.#sessions.end(secret);
  }

  #byProxy({ raw }: FastifyRequest): ConsoleUser | undefined {
    const header = this.#header;
    if (header === undefined || !this.#connectionChecks.isFromProxy(raw)) return undefined;
    const name = raw.headers[header.user];
    // Node joins two headers of one name by a comma, which no user name has.
    if (typeof name !== 'string' || !userName.safeParse(name).success) return undefined;
    const role =
      header.role === undefined
        ? this.#users.named(name)?.role
        : roles.find((known) => known === raw.headers[header.role as string]);
    return role === undefined ? undefined : { name, role };
  }

  /** Ports and schemes share cookies; under TLS the prefix keeps other services from setting ours. */
  #cookieName({ raw }: FastifyRequest): string {
    return this.#connectionChecks.isSecure(raw) ? '__Host-offerline-console' : 'offerline-console';
  }

  #cookieOptions({ raw }: FastifyRequest) {
    return { path: '/', httpOnly: true, sameSite: 'strict', secure: this.#connectionChecks.isSecure(raw) } as const;
  }
}
