import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../kit/config/settings.ts';
import type { Connections } from './connection.ts';
import { sessionMilliseconds, type Sessions } from './sessions.ts';
import type { UserRegistry } from './user-registry.ts';
import { roles, userName, type ConsoleUser } from './users.ts';

/** Tells who asks: by the header of a trusted proxy, else by the session's cookie. */
export class WhoAsks {
  readonly #header: Settings['console']['proxy_header'];
  readonly #connections: Connections;
  readonly #users: UserRegistry;
  readonly #sessions: Sessions;

  constructor(
    header: Settings['console']['proxy_header'],
    connections: Connections,
    users: UserRegistry,
    sessions: Sessions,
  ) {
    this.#header = header;
    this.#connections = connections;
    this.#users = users;
    this.#sessions = sessions;
  }

  of(request: FastifyRequest, now: number): ConsoleUser | null {
    const told = this.#byProxy(request);
    if (told !== undefined) return told;
    const secret = request.cookies[this.#cookieName(request)];
    const session = secret === undefined ? undefined : this.#sessions.find(secret, now);
    if (session === undefined) return null;
    const { name, role, tokenDigest } = session;
    // Begun by the one-time link: of no user of the file.
    if (tokenDigest === undefined) return { name, role };
    // Removed since, or under another token: what the old one opened is closed. A new role holds at once.
    const user = this.#users.named(name);
    return user?.token_sha256 === tokenDigest ? { name, role: user.role } : null;
  }

  /** Begins a session, in the place of the one that the browser may have. */
  signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    user: ConsoleUser,
    tokenDigest: string | undefined,
    now: number,
  ) {
    this.#end(request);
    reply.setCookie(this.#cookieName(request), this.#sessions.begin(user, tokenDigest, now), {
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
    if (header === undefined || !this.#connections.isFromProxy(raw)) return undefined;
    const name = raw.headers[header.user];
    // Sent twice, the values are joined by a comma, which no name has.
    if (typeof name !== 'string' || !userName.safeParse(name).success) return undefined;
    const role =
      header.role === undefined
        ? this.#users.named(name)?.role
        : roles.find((known) => known === raw.headers[header.role as string]);
    return role === undefined ? undefined : { name, role };
  }

  /** Cookies are not parted by port or scheme: under TLS the prefix keeps others from setting ours. */
  #cookieName({ raw }: FastifyRequest): string {
    return this.#connections.isSecure(raw) ? '__Host-offerline-console' : 'offerline-console';
  }

  #cookieOptions({ raw }: FastifyRequest) {
    return { path: '/', httpOnly: true, sameSite: 'strict', secure: this.#connections.isSecure(raw) } as const;
  }
}
