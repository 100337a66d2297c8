import type { ServerResponse } from 'node:http';
import type { Metrics } from '../../kit/metrics/metrics.ts';
import { pieceBytes } from '../http/response.ts';
import type { Body, HttpResponse } from '../http/response.ts';

/**
 * Nearly as much as the page cache may hold: that many pages can be on their way at once, whatever their clients do.
 */
const maxUnsentBytes = 128 * 1024 * 1024;
/**
 * Up to here there is room for what something else can stand for. Pictures are such, and need no credentials: anyone
 * who asks for many and reads none must leave room for pages.
 */
const maxReplaceableBytes = 32 * 1024 * 1024;
/**
 * Errors, and what reports on the service itself, always leave: all connections together have room for so much of each.
 */
const smallBytes = 32 * 1024;

/** Bodies that slow clients have not taken yet. One that several are taking is in memory once, and counts once. */
export class UnsentAnswers {
  readonly #clients = new Map<Buffer, number>();
  #bytes = 0;

  constructor(metrics: Metrics) {
    metrics.gauge(
      'offerline_unsent_bytes',
      'Memory of answers that their clients have not taken yet.',
      () => this.#bytes,
    );
    metrics.gauge('offerline_unsent_bytes_limit', 'Beyond so much, pages are refused by 503.', () => maxUnsentBytes);
  }

  hasRoomFor({ body, instead }: Pick<HttpResponse, 'body' | 'instead'>): boolean {
    if (body === undefined || body.length <= smallBytes || this.#bytes === 0) return true;
    const { shared, own } = memoryOf(body);
    const most = instead === undefined ? maxUnsentBytes : maxReplaceableBytes;
    return this.#bytes + own + (this.#clients.has(shared) ? 0 : shared.length) <= most;
  }

  /** Counts a body until its response has left, or its client has gone. */
  hold(body: Body, response: ServerResponse): void {
    if (response.destroyed) return;
    const { shared, own } = memoryOf(body);
    const clients = this.#clients.get(shared) ?? 0;
    this.#clients.set(shared, clients + 1);
    this.#bytes += own + (clients === 0 ? shared.length : 0);
    response.once('close', () => {
      const left = (this.#clients.get(shared) ?? 0) - 1;
      this.#bytes -= own + (left === 0 ? shared.length : 0);
      if (left === 0) this.#clients.delete(shared);
      else this.#clients.set(shared, left);
    });
  }
}

function memoryOf(body: Body): { shared: Buffer; own: number } {
  return 'pieces' in body ? { shared: body.source, own: pieceBytes } : { shared: body, own: 0 };
}
