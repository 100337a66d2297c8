import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../kit/config/settings.ts';
import { clientAddresses } from '../../kit/http/client-address.ts';
import { isFromThisMachine } from '../../kit/http/loopback.ts';
import { retryAfterHeader } from '../../kit/http/sliding-windows.ts';
import { refuseUnreadable } from '../../kit/http/unreadable-request.ts';
import { html } from '../../kit/html/html.ts';
import { connectionChecks } from './connection-checks.ts';
import { EnterLink } from './enter-link.ts';
import { AccessLimits, type Counted } from './limits.ts';
import { hasOwnOrigin, isOwnPage } from '../../kit/http/own-page.ts';
import { knownHosts } from './request-origin.ts';
import { securityHeaders } from './security-headers.ts';
import { Sessions } from './sessions.ts';
import { addSignInRoutes, sendHtml, ownPath, signInPage, type RenderPage } from './sign-in.ts';
import type { UserRegistry } from './user-registry.ts';
import { isAllowed, type ConsoleUser, type Role } from './users.ts';
import { Authenticator } from './authenticator.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The user of the request; null on routes for anybody. */
    user: ConsoleUser | null;
  }
  interface FastifyContextConfig {
    /**
     * The required role. Default: viewer for GET and HEAD, operator for other methods. `anybody` has no rate limit,
     * either; `machine` is a viewer, or any program of this machine that asks by no proxy.
     */
    access?: 'anybody' | 'machine' | Role;
    /**
     * For programs: each request has a user's token in `Authorization: Bearer`, and no cookie lets in, so that no page
     * of another site acts for a browser that is signed in.
     */
    byToken?: true;
  }
}

export interface AccessParts {
  /** The settings, with the host that the console listens on. */
  settings: Pick<Settings, 'console' | 'trusted_proxies'>;
  users: UserRegistry;
  /** Where `console link` writes its links. */
  linkFile: string;
  renderPage: RenderPage;
  now: () => number;
}

export interface Access {
  /** Returns the path of a new one-time link, which replaces the last one. */
  issueLink(): string;
}

/** Options of a route with another role than the default, such as the style sheet. */
export function requireRole(access: 'anybody' | 'machine' | Role) {
  return { config: { access } };
}

/**
 * Adds the checks of every request, and the routes to sign in and out. Call it on the root before any route is added,
 * so that unknown paths are checked, too.
 */
export async function addAccess(app: FastifyInstance, parts: AccessParts): Promise<Access> {
  const { users, renderPage, now } = parts;
  const link = new EnterLink(parts.linkFile);
  const checks = new AccessChecks(parts);
  app.decorateRequest('user', null);
  app.addHook('onRequest', (request, reply, done) => {
    if (!checks.isRefusedSender(request, reply)) done();
  });
  // After the first hook, so that nothing else is read of a request that it refuses.
  await app.register(cookie);
  app.addHook('onRequest', (request, reply, done) => {
    if (!checks.isRefusedUser(request, reply)) done();
  });
  // The console takes forms only: any other content type is refused unread.
  app.removeAllContentTypeParsers();
  await app.register(formbody);

  addSignInRoutes(app, {
    users,
    link,
    authenticator: checks.authenticator,
    renderPage,
    now,
    refusedAsTooMany: (request, reply) => checks.isTooMany('sign-in', checks.addressOf(request), reply),
  });
  return { issueLink: () => link.issue(now()) };
}

/** The checks of a request. Each answers and returns true where it refuses. */
class AccessChecks {
  readonly authenticator: Authenticator;
  readonly #parts: AccessParts;
  readonly #connection: ReturnType<typeof connectionChecks>;
  readonly #isKnownHost: ReturnType<typeof knownHosts>;
  readonly #clientAddress: ReturnType<typeof clientAddresses>;
  readonly #limits = new AccessLimits();

  constructor(parts: AccessParts) {
    const { settings, users } = parts;
    this.#parts = parts;
    this.#connection = connectionChecks(settings);
    this.#isKnownHost = knownHosts(settings.console);
    this.#clientAddress = clientAddresses(settings.trusted_proxies);
    this.authenticator = new Authenticator(settings.console.proxy_header, this.#connection, users, new Sessions());
  }

  addressOf({ raw }: FastifyRequest): string {
    return this.#clientAddress(raw.socket.remoteAddress, raw.headers['x-forwarded-for']?.toString());
  }

  /** Whether the host, the connection or the page that sent it is another one than ours. */
  isRefusedSender(request: FastifyRequest, reply: FastifyReply): boolean {
    reply.headers(securityHeaders);
    const { raw } = request;
    if (!this.#isKnownHost(raw)) return refuse(reply, 421, unknownHost);
    if (this.#connection.isExposed(raw)) return refuse(reply, 403, exposed);
    const isOwnForm = () => isReading(request) || isOwnPage(raw, this.#connection.isSecure(raw));
    const isOwn = request.routeOptions.config.byToken === true ? hasOwnOrigin(raw) : isOwnForm();
    return isOwn ? false : refuse(reply, 403, otherPage);
  }

  /** Whether its user is unknown, asks too often or lacks the role; notes the user in the request. */
  isRefusedUser(request: FastifyRequest, reply: FastifyReply): boolean {
    const { raw } = request;
    const { users, renderPage, now } = this.#parts;
    const { access } = request.routeOptions.config;
    const byToken = request.routeOptions.config.byToken === true;
    const user = byToken ? userOfToken(raw, users) : this.authenticator.identify(request, now());
    request.user = user;
    if (access === 'anybody') return false;
    if (access === 'machine' && isFromThisMachine(raw.headers, raw.socket.remoteAddress)) return false;
    const kind = isReading(request) || byToken ? 'page' : 'action';
    const counted = user === null ? `address ${this.addressOf(request)}` : `user ${user.name}`;
    if (this.isTooMany(kind, counted, reply)) return true;
    if (user === null && byToken) return refuse(reply.header('www-authenticate', 'Bearer'), 401, noToken);
    if (user === null) {
      sendHtml(reply, 401, signInPage(renderPage, isReading(request) ? ownPath(request.url) : '/'));
      return true;
    }
    const required = access === 'machine' ? 'viewer' : (access ?? (isReading(request) ? 'viewer' : 'operator'));
    if (isAllowed(user.role, required)) return false;
    if (byToken) return refuse(reply, 403, `${user.name} is a ${user.role}: this needs the role of an ${required}.`);
    sendHtml(reply, 403, renderPage('Not allowed', notAllowed(user)));
    return true;
  }

  /** Counts a request, and whether the limit is reached. */
  isTooMany(kind: Counted, counted: string, reply: FastifyReply): boolean {
    const { renderPage, now } = this.#parts;
    const status = this.#limits.count(kind, counted, now());
    if (status.allowed) return false;
    const wait = retryAfterHeader(status, now());
    const text = html`<h1>Too many requests</h1>
      <p role="alert">Try again in ${wait['retry-after']} seconds.</p>`;
    sendHtml(reply.headers(wait), 429, renderPage('Too many requests', text));
    return true;
  }
}

/**
 * Fastify's option of this name. An address with broken percent-encoding passes no hook; Fastify's own answer would
 * lack our headers and repeat the address.
 */
export function frameworkErrors(_error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  refuse(reply.headers(securityHeaders), 400, 'This address is not valid.');
}

/** Fastify's option of this name. */
export function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  refuseUnreadable(error, socket, securityHeaders);
}

const unknownHost =
  'The console does not know this host name. Add it to console.hosts or console.public_url of offerline.json.';
const exposed = 'The console answers its proxy only: use the address of the proxy.';
const otherPage =
  'This form was not sent by a page of the console, or over plain HTTP, where browsers do not say who sent it. Open the console at its own address, and send the form from there.';

const noToken =
  'This address is for programs: send `Authorization: Bearer` and the token of an analyst, which `offerline console add <name> --role analyst` prints once.';

const notAllowed = ({ name, role }: ConsoleUser) =>
  html`<h1>Operators only</h1>
    <p role="alert">${name} is ${role === 'analyst' ? 'an analyst: analysts' : 'a viewer: viewers'} see everything and start no action.</p>`;

/** The user of a token in `Authorization`; null without one, and where nobody has it. */
function userOfToken({ headers }: IncomingMessage, users: UserRegistry): ConsoleUser | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const user = token === undefined ? undefined : users.withToken(token);
  return user === undefined ? null : { name: user.name, role: user.role };
}

/** Answers in plain text, without a page. */
function refuse(reply: FastifyReply, status: number, text: string): true {
  reply.code(status).type('text/plain; charset=utf-8').send(`${text}\n`);
  return true;
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
