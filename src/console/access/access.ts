import type { Socket } from 'node:net';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../kit/config/settings.ts';
import { clientAddresses } from '../../kit/http/client-address.ts';
import { retryAfterHeader } from '../../kit/http/sliding-windows.ts';
import { refuseUnreadable } from '../../kit/http/unreadable-request.ts';
import { html } from '../html/html.ts';
import { connections } from './connection.ts';
import { EnterLink } from './enter-link.ts';
import { AccessLimits, type Counted } from './limits.ts';
import { isOwnPage, knownHosts } from './own-address.ts';
import { securityHeaders } from './security-headers.ts';
import { Sessions } from './sessions.ts';
import { addSignInRoutes, answer, ownPath, signInPage, type RenderPage } from './sign-in.ts';
import type { UserRegistry } from './user-registry.ts';
import type { ConsoleUser, Role } from './users.ts';
import { WhoAsks } from './who-asks.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; null on routes for anybody. */
    user: ConsoleUser | null;
  }
  interface FastifyContextConfig {
    /** Who may. Without it: viewers what only shows, operators everything else. `anybody` is not counted, either. */
    access?: 'anybody' | Role;
  }
}

export interface AccessParts {
  /** With the host that is listened on, wherever it was given. */
  settings: Pick<Settings, 'console' | 'trusted_proxies'>;
  users: UserRegistry;
  renderPage: RenderPage;
  now: () => number;
}

export interface Access {
  /** The path of a new one-time link, in place of the one before. */
  issueLink(): string;
}

/** A route's options: who may. For a GET that shows what operators alone may see, say, or for the style sheet. */
export function requireRole(access: 'anybody' | Role) {
  return { config: { access } };
}

/**
 * Puts the checks before everything that `app` answers, and adds the ways in and out. To be called before any route is
 * added, on the root: then unknown paths are checked, too.
 */
export async function addAccess(
  app: FastifyInstance,
  { settings, users, renderPage, now }: AccessParts,
): Promise<Access> {
  const connection = connections(settings);
  const isKnownHost = knownHosts(settings.console);
  const clientAddress = clientAddresses(settings.trusted_proxies);
  const addressOf = ({ raw }: FastifyRequest) =>
    clientAddress(raw.socket.remoteAddress, raw.headers['x-forwarded-for']?.toString());
  const limits = new AccessLimits();
  const link = new EnterLink();
  const who = new WhoAsks(settings.console.proxy_header, connection, users, new Sessions());

  /** Whether it was answered here, since there was no room for it. */
  const refusedAsTooMany = (kind: Counted, counted: string, reply: FastifyReply): boolean => {
    const status = limits.count(kind, counted, now());
    if (status.allowed) return false;
    const wait = retryAfterHeader(status, now());
    const text = html`<h1>Too many requests</h1>
      <p role="alert">Try again in ${wait['retry-after']} seconds.</p>`;
    answer(reply.headers(wait), 429, renderPage('Too many requests', text));
    return true;
  };

  app.decorateRequest('user', null);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders);
    const { raw } = request;
    if (!isKnownHost(raw)) return refuse(reply, 421, unknownHost);
    if (connection.isExposed(raw)) return refuse(reply, 403, exposed);
    if (!onlyShows(request) && !isOwnPage(raw, connection.isSecure(raw))) return refuse(reply, 403, otherPage);
    done();
  });
  // After the first hook: what was refused there has nothing else read of it.
  await app.register(cookie);
  app.addHook('onRequest', (request, reply, done) => {
    const { access } = request.routeOptions.config;
    const user = who.of(request, now());
    request.user = user;
    if (access === 'anybody') return done();
    const kind = onlyShows(request) ? 'page' : 'action';
    const counted = user === null ? `address ${addressOf(request)}` : `user ${user.name}`;
    if (refusedAsTooMany(kind, counted, reply)) return;
    const next = onlyShows(request) ? ownPath(request.url) : '/';
    if (user === null) return void answer(reply, 401, signInPage(renderPage, next));
    const required = access ?? (onlyShows(request) ? 'viewer' : 'operator');
    if (required === 'operator' && user.role !== 'operator')
      return void answer(reply, 403, renderPage('Not allowed', notAllowed(user)));
    done();
  });
  // Forms are all that is sent here: everything else is refused by its type, unread.
  app.removeAllContentTypeParsers();
  await app.register(formbody);

  addSignInRoutes(app, {
    users,
    link,
    who,
    renderPage,
    now,
    refusedAsTooMany: (request, reply) => refusedAsTooMany('sign-in', addressOf(request), reply),
  });
  return { issueLink: () => link.issue(now()) };
}

/**
 * For Fastify's option of this name: an address whose percent-encoding is broken passes no hook. Fastify's own answer
 * would have none of the headers and repeat the address.
 */
export function frameworkErrors(_error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  refuse(reply.headers(securityHeaders), 400, 'There can be nothing at this address.');
}

/** For Fastify's option of this name. */
export function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  refuseUnreadable(error, socket, securityHeaders);
}

const unknownHost =
  'The console does not answer to this name. Names that it shall have stand in console.hosts and console.public_url of offerline.json.';
const exposed = 'The console speaks to its proxy only: come by the address that the proxy has.';
const otherPage =
  'This was not sent by a page of the console, or over plain HTTP, where browsers do not tell. Open the console at its own address, and send it from there.';

const notAllowed = ({ name }: ConsoleUser) =>
  html`<h1>Operators only</h1>
    <p role="alert">${name} is a viewer, who may look at everything and start nothing.</p>`;

/** Neither a page nor anything of ours: whoever asks is perhaps not who they say. */
function refuse(reply: FastifyReply, status: number, text: string): void {
  reply.code(status).type('text/plain; charset=utf-8').send(`${text}\n`);
}

function onlyShows({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}
