import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { html, type Html } from '../kit/html/html.ts';
import { sendHtml } from './access/sign-in.ts';
import type { ConsoleUser } from './access/users.ts';
import { TooSlowError, type ConsoleSnapshot } from './data/console-snapshot.ts';
import { TooBusyError } from './data/serial-queue.ts';
import type { ConsoleSnapshots } from './data/snapshots.ts';
import { Address } from './html/address.ts';
import type { HealthMonitor } from './live/health.ts';
import { document } from './page/document.ts';
import { ConsoleError, type BarePage, type BareRequest, type Page, type PageRequest } from './page/page.ts';
import { PageRenderer } from './page/render-page.ts';
import { sendTagged } from './page/send-tagged.ts';
import { consolePages, navigation } from './pages.ts';
import { offersPage } from './pages/figures/offers.ts';
import { firstPage, overviewPage } from './pages/figures/overview.ts';
import { sitesPage } from './pages/figures/sites.ts';
import { waitingHere } from './pages/figures/waits.ts';
import { postbacksPage } from './pages/operations/postbacks.ts';

/** All that pages are made of. */
export interface ConsolePagesParts extends Pick<PageRequest, 'data' | 'settings' | 'deliveries' | 'jobs' | 'sqlBox'> {
  snapshots: ConsoleSnapshots;
  health: HealthMonitor;
  log: Logger;
  now: () => number;
}

/** The reader of pages that are rendered before anybody requests them. */
const nobody: ConsoleUser = { name: 'console', role: 'viewer' };
/** Analysts get the pages of viewers. */
const rolesAhead = ['viewer', 'operator'] as const;
/**
 * The most requested pages, which are rendered for each role as soon as a snapshot is published. A live page is not
 * cached, but its statements warm up the snapshot and the delivery counts.
 */
const pagesAhead = [overviewPage, offersPage, sitesPage, postbacksPage];

/** Answers requests with pages, errors among them. */
export class ConsolePages {
  readonly #parts: ConsolePagesParts;
  readonly #renderer = new PageRenderer();
  /** Digest of style sheet and script, known once these are served. */
  version = '';

  constructor(parts: ConsolePagesParts) {
    this.#parts = parts;
  }

  /** Adds a route for each page, and the answers to what has none or fails. */
  addRoutes(server: FastifyInstance): void {
    for (const page of consolePages)
      server.get(page.path, async (request, reply) =>
        'body' in page ? this.#sendBare(page, request, reply) : this.#send(page, request, reply),
      );
    server.setNotFoundHandler((request, reply) => {
      this.#sendError(request, reply, new ConsoleError(404, 'There is no such page.'));
    });
    server.setErrorHandler((error, request, reply) => this.#sendError(request, reply, error as Error));
  }

  /** Renders a document: without a user it has no frame, without a path it is none of the pages. */
  renderDocument(
    title: string,
    body: Html,
    user: FastifyRequest['user'] = null,
    path = '',
    snapshot?: ConsoleSnapshot,
  ): string {
    if (user === null) return document(title, body, this.version);
    const { health, snapshots, now } = this.#parts;
    const shown = snapshot && { id: snapshot.id, asOf: snapshot.asOf, isCurrent: snapshot === snapshots.current };
    const summary = health.latest;
    // The overview lists all that waits by itself.
    const waiting = path !== '/' && waitingHere(summary.status?.to_do ?? [], path);
    const frame = { navigation, path, health: summary, waiting, now: now(), user, snapshot: shown };
    return document(title, body, this.version, frame);
  }

  /** Renders a page that shows nothing of a snapshot. */
  renderBare({ title, path }: Pick<BarePage, 'title' | 'path'>, { user }: FastifyRequest, body: Html): string {
    return this.renderDocument(title, body, user, path, this.#parts.snapshots.current);
  }

  /** Renders the most requested pages of the current snapshot, for those who request them next. */
  async renderAhead(): Promise<void> {
    const { snapshots, log } = this.#parts;
    const snapshot = snapshots.current;
    if (snapshot === undefined) return;
    for (const page of pagesAhead)
      for (const role of page.live === true ? [nobody.role] : rolesAhead)
        await this.#renderer
          .render(page, this.#pageRequest(snapshot, new Address(page.path), { ...nobody, role }))
          .catch((error: unknown) =>
            log.error({ err: error, path: page.path }, 'rendering a page ahead failed; it is rendered on request'),
          );
  }

  #sendBare(page: BarePage, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendHtml(reply, 200, this.renderBare(page, request, page.body(this.#bareRequest(request.user ?? nobody))));
  }

  async #send(page: Page, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    // No name has a NUL, and neither files nor processes take one.
    if (request.url.includes('%00')) throw new ConsoleError(404, 'There is no such page.');
    const { snapshots } = this.#parts;
    const address = Address.of(request.url);
    const snapshotId = address.get('snapshot');
    return snapshots.use(snapshotId, async (snapshot) => {
      if (snapshot === undefined && page === overviewPage && snapshotId === undefined)
        return this.#sendBare(firstPage, request, reply);
      if (snapshot === undefined) throw noSnapshot(address, await snapshots.keptAfter(snapshotId));
      const rendered = await this.#renderer.render(
        page,
        this.#pageRequest(snapshot, address, request.user ?? nobody, request.params as PageRequest['path']),
      );
      reply.header('cache-control', 'private, no-cache');
      if ('redirect' in rendered) return reply.redirect(rendered.redirect, 303);
      if ('csv' in rendered) {
        reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${rendered.file}"`);
        return sendTagged(request, reply, rendered.csv);
      }
      reply.type('text/html; charset=utf-8');
      const { title, body } = rendered;
      return sendTagged(request, reply, this.renderDocument(title, body, request.user, address.path, snapshot));
    });
  }

  #sendError(request: FastifyRequest, reply: FastifyReply, error: Error): FastifyReply {
    const status = statusOf(error);
    if (status === 500)
      this.#parts.log.error(
        { request_id: request.id, path: request.routeOptions.url, err: error },
        'page failed; answered 500',
      );
    const text = status === 500 ? 'Internal error. The log of the console has the details.' : error.message;
    if (status === 503) reply.header('retry-after', '1');
    const title =
      status === 400 && request.method !== 'GET'
        ? 'This form cannot be read'
        : (errorTitles[status] ?? (status < 500 ? 'This request is refused' : 'This page failed'));
    const body = html`<h1>${title}</h1>
      <p class="error" role="alert">${sentence(text)}</p>
      ${error instanceof ConsoleError && error.instead !== undefined && html`<p><a href="${error.instead.href}">${error.instead.text}</a></p>`}
      <p><a href="/">Overview</a> <span class="quiet">HTTP ${status}</span></p>`;
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(this.renderDocument(title, body, request.user, Address.of(request.url).path));
  }

  #bareRequest(user: ConsoleUser): BareRequest {
    const { health, data, settings, now } = this.#parts;
    return { user, health: health.latest, data, settings, now: now() };
  }

  #pageRequest(
    snapshot: ConsoleSnapshot,
    address: Address,
    user: ConsoleUser,
    path: PageRequest['path'] = {},
  ): Omit<PageRequest, 'part'> {
    const { deliveries, jobs, sqlBox } = this.#parts;
    return { ...this.#bareRequest(user), snapshot, path, address, deliveries, jobs, sqlBox };
  }
}

/** `kept`: the snapshot that shows nearly the same as the one that the address names. */
function noSnapshot(address: Address, kept: string | undefined): ConsoleError {
  const id = address.get('snapshot');
  if (id === undefined)
    return new ConsoleError(503, 'Nothing is published yet; `offerline run refresh` publishes a first snapshot.');
  const instead =
    kept === undefined
      ? undefined
      : { href: address.with({ snapshot: kept }).href, text: `This page of snapshot ${kept}` };
  return new ConsoleError(410, `Snapshot ${id} is no longer kept; /snapshots lists those that are.`, instead);
}

const errorTitles: Readonly<Record<number, string>> = {
  400: 'This address asks for something that cannot be shown',
  404: 'There is nothing at this address',
  410: 'This snapshot is gone',
  413: 'This is too large',
  429: 'Too many requests',
  503: 'Not at the moment',
};

/** The text of an error with a full stop; it may begin with the name of a parameter. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function statusOf(error: Error & { statusCode?: number }): number {
  if (error instanceof ConsoleError) return error.status;
  if (error instanceof TooBusyError || error instanceof TooSlowError) return 503;
  return error.statusCode !== undefined && error.statusCode < 500 ? error.statusCode : 500;
}
