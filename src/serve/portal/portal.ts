import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Settings } from '../../kit/config/settings.ts';
import { packageFile } from '../../kit/files/package-files.ts';
import { baseStyle } from '../../kit/html/base-style.ts';
import { html, type Html } from '../../kit/html/html.ts';
import { ApiError } from '../../kit/http/errors.ts';
import { isOwnPage } from '../../kit/http/own-page.ts';
import { retryAfterHeader } from '../../kit/http/sliding-windows.ts';
import type { Site } from '../../kit/sites/sites.ts';
import { hourlyOrders, hourlyPortal, type LimitRule } from '../access/limits.ts';
import { notOpen, type PublisherApi } from '../api/publisher-api.ts';
import { parametersOf } from '../api/request-body.ts';
import { cacheControl } from '../http/caching.ts';
import { pathOf } from '../server/access-log.ts';
import { variantC } from '../variant-c/variant.ts';
import { feedPage } from './pages/feed.ts';
import { resendAnswer, testAnswer } from './pages/orders.ts';
import { conversionsPage, portalPostbacksPage, statementPage } from './pages/records.ts';
import { signInForm } from './pages/sign-in.ts';
import { signaturesPage } from './pages/signatures.ts';
import { portalDocument } from './portal-document.ts';
import type { PortalPage, PortalRequest } from './portal-page.ts';
import { noSessionCookie, sessionCookie, sessionOf, signOutsOf } from './portal-session.ts';

const pages: readonly PortalPage[] = [statementPage, conversionsPage, portalPostbacksPage, feedPage, signaturesPage];
const signInPath = '/portal/sign-in';

/** Headers of every page: nothing is loaded from elsewhere, no script runs, nobody frames it or keeps it. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': cacheControl.noStore,
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // Without it a form says nothing of where it comes from.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Pages for people of a publisher: what the interface says to their site, and the orders that it takes. They sign in by
 * the site's key and secret.
 */
export class Portal {
  readonly #api: PublisherApi;
  readonly #isSecure: boolean;
  readonly #style: Buffer;
  readonly #version: string;
  readonly #log: Logger;

  constructor(api: PublisherApi, { public_url }: Pick<Settings, 'public_url'>, log: Logger) {
    this.#api = api;
    this.#isSecure = public_url?.startsWith('https:') === true;
    this.#style = Buffer.concat(
      [baseStyle, 'src/serve/portal/portal.css'].map((path) => readFileSync(packageFile(path))),
    );
    this.#version = hash('sha256', this.#style).slice(0, 12);
    this.#log = log;
  }

  /** Adds a route for each page and order. */
  register(server: FastifyInstance): void {
    void server.register((app, _options, done) => {
      app.setErrorHandler(async (error: Error, request, reply) => this.#refuse(error, request, reply));
      const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) => {
        for (const method of ['GET', 'HEAD']) app.route({ method, url, schema: { hide: true }, handler });
      };
      const post = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
        app.route({
          method: 'POST',
          url,
          schema: { hide: true },
          preHandler: async (request) => this.#assertOwnPage(request),
          handler,
        });
      get('/portal/style.css', async (_request, reply) => this.#sendStyle(reply));
      get(signInPath, async (request, reply) => this.#send(request, reply, 200, 'Sign in', signInForm('')));
      for (const page of pages) get(page.path, async (request, reply) => this.#show(request, reply, page));
      post(signInPath, async (request, reply) => this.#signIn(request, reply));
      post('/portal/sign-out', async (request, reply) => this.#signOut(request, reply));
      post('/portal/test', async (request, reply) => this.#order(request, reply, testAnswer));
      post('/portal/postbacks/:postback_id/resend', async (request, reply) =>
        this.#order(request, reply, resendAnswer),
      );
      done();
    });
  }

  async #signIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { sites, now } = this.#api.state;
    const sent = parametersOf(request);
    try {
      const site = sites.identify(sent);
      if (site.status !== 'active') throw notOpen(site, 'portal');
      // The one before opens the feeds for a day, while programs change over; sign-ins have ended with it.
      if (sent['site_secret'] !== site.site_secret)
        throw new ApiError('unknown_credentials', 'this secret has been replaced; sign in by the new one');
      return reply.header('set-cookie', sessionCookie(site, now(), this.#isSecure)).redirect('/portal', 303);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const refusal = await this.#api.slowedDown(error, request, reply);
      const key = typeof sent['site_key'] === 'string' ? sent['site_key'] : '';
      return this.#send(request, reply, statusOf(refusal), 'Sign in', signInForm(key, refusal.message));
    }
  }

  /** Ends the session, also for who has a copy of its cookie. */
  async #signOut(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { sites, now, limits } = this.#api.state;
    const session = sessionOf(sites, request.headers.cookie, now());
    if (session !== undefined)
      await limits.check(signOutsOf(session), session.site, () => this.#api.clientOf(request), now(), true);
    return reply.header('set-cookie', noSessionCookie(this.#isSecure)).redirect(signInPath, 303);
  }

  async #show(request: FastifyRequest, reply: FastifyReply, page: PortalPage): Promise<FastifyReply> {
    const site = await this.#siteOf(request);
    if (site === undefined) return reply.redirect(signInPath, 303);
    await this.#limit(request, reply, site, hourlyPortal);
    return this.#send(request, reply, 200, page.title, await page.show(this.#requestOf(request, site)), site);
  }

  async #order(
    request: FastifyRequest,
    reply: FastifyReply,
    carryOut: (request: PortalRequest) => Promise<Html>,
  ): Promise<FastifyReply> {
    const site = await this.#siteOf(request);
    if (site === undefined) return reply.redirect(signInPath, 303);
    await this.#limit(request, reply, site, hourlyOrders);
    return this.#send(request, reply, 200, 'Order', await carryOut(this.#requestOf(request, site)), site);
  }

  async #siteOf(request: FastifyRequest): Promise<Site | undefined> {
    const { sites, now, limits } = this.#api.state;
    const at = now();
    const session = sessionOf(sites, request.headers.cookie, at);
    if (session === undefined) return undefined;
    const client = () => this.#api.clientOf(request);
    const { resetAt } = await limits.check(signOutsOf(session), session.site, client, at, false);
    return resetAt > at ? undefined : session.site;
  }

  async #limit(request: FastifyRequest, reply: FastifyReply, site: Site, rule: LimitRule): Promise<void> {
    const { limits, now } = this.#api.state;
    const at = now();
    const limit = await limits.check(rule, site, () => this.#api.clientOf(request), at, true);
    if (limit.allowed) return;
    reply.headers(retryAfterHeader(limit, at));
    throw new ApiError('rate_limited', `this site has used up its ${limit.limit} requests an hour; try again later`);
  }

  #requestOf(request: FastifyRequest, site: Site): PortalRequest {
    const sent = { ...parametersOf(request), ...(request.params as object) };
    const asked = Object.fromEntries(
      Object.entries(sent).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
    const snapshot = this.#api.servedSnapshot();
    const ask: PortalRequest['ask'] = async (operation, body, parameters) => {
      const answer = await this.#api.answerOf(operation, site, snapshot, parameters);
      return body.parse(answer);
    };
    return { site, asOf: snapshot.asOf, asked, ask };
  }

  /** Forms of other sites are refused, whatever cookies come with them. Throws `ApiError`. */
  #assertOwnPage(request: FastifyRequest): void {
    if (!isOwnPage(request.raw, this.#isSecure))
      throw new ApiError('unreadable_request', 'this form was not sent by a page of ours; open the page again');
  }

  async #refuse(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const isKnown = error instanceof ApiError;
    const { id, method } = request;
    if (!isKnown || error.cause !== undefined)
      this.#log.error({ request_id: id, method, path: pathOf(request), err: error.cause ?? error }, 'page failed');
    const refusal = isKnown ? error : new ApiError('internal', 'something went wrong on our side; try again later');
    const body = html`<p role="alert">${refusal.message}</p>
      <p><a href="/portal">Back to the statement</a></p>`;
    return this.#send(request, reply, statusOf(refusal), 'This cannot be shown', body, await this.#siteOf(request));
  }

  #send(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    title: string,
    body: Html,
    site?: Site,
  ): FastifyReply {
    const asOf = site === undefined ? undefined : this.#api.state.snapshot()?.asOf;
    const text = portalDocument(title, body, { site, path: pathOf(request), asOf, version: this.#version });
    return reply.answer({ status, headers: pageHeaders, body: Buffer.from(text) });
  }

  #sendStyle(reply: FastifyReply): FastifyReply {
    const headers = {
      ...pageHeaders,
      'content-type': 'text/css; charset=utf-8',
      'cache-control': cacheControl.versioned,
    };
    return reply.answer({ status: 200, headers, body: this.#style });
  }
}

function statusOf(error: ApiError): number {
  return variantC.describe(error).status;
}
