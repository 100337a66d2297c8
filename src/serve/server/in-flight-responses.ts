import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Gauge } from '../../kit/http/gauge.ts';
import { pieceBytes } from '../http/response.ts';
import type { Body, HttpResponse, PiecedBody } from '../http/response.ts';

/**
 * As much as the page cache may hold, nearly: that many pages can be on their way at once, whatever their clients do.
 */
const maxUnsentBytes = 128 * 1024 * 1024;
/**
 * Up to here there is room for what something else can stand for. Pictures are such, and need no credentials: whoever
 * asks for many and reads none must leave room for pages.
 */
const maxReplaceableBytes = 32 * 1024 * 1024;
/**
 * Errors, and what tells of the service itself, always leave: all connections together have room for so much of each.
 */
const smallBytes = 32 * 1024;

/**
 * The one way by which responses leave the process; counts the bodies that clients have not taken yet. One that several
 * are taking is in memory once, and counts once.
 */
export class InFlightResponses {
  readonly #clients = new Map<Buffer, number>();
  #bytes = 0;

  hasRoomFor({ body, instead }: Pick<HttpResponse, 'body' | 'instead'>): boolean {
    if (body === undefined || body.length <= smallBytes || this.#bytes === 0) return true;
    const { shared, own } = partsOf(body);
    const most = instead === undefined ? maxUnsentBytes : maxReplaceableBytes;
    return this.#bytes + own + (this.#clients.has(shared) ? 0 : shared.length) <= most;
  }

  /** Writes past Fastify, whose hooks would look at each response once more: a tenth of the whole cost of a page. */
  send(reply: FastifyReply, { status, headers, more, body }: HttpResponse): FastifyReply {
    const { raw, request } = reply;
    reply.hijack();
    if (body === undefined) {
      raw.writeHead(status, { ...headers, ...more }).end();
      return reply;
    }
    raw.writeHead(status, { ...headers, ...more, 'content-length': body.length });
    if (!('pieces' in body)) raw.end(body);
    else if (request.method === 'HEAD') raw.end();
    // It fails where the client goes before it has all, and that is no failure of ours.
    else void sendInPieces(body, raw).catch(() => undefined);
    // Nearly always the system has taken all of it by now.
    if (!(raw.writableEnded && raw.writableLength === 0) && !raw.destroyed) this.#hold(body, raw);
    return reply;
  }

  get gauges(): Gauge[] {
    return [
      {
        name: 'offerline_unsent_bytes',
        help: 'Memory of answers that their clients have not taken yet.',
        value: this.#bytes,
      },
      {
        name: 'offerline_unsent_bytes_limit',
        help: 'Beyond so much, pages are refused by 503.',
        value: maxUnsentBytes,
      },
    ];
  }

  /** Counts a body until its response has left, or its client has gone. */
  #hold(body: Body, response: ServerResponse): void {
    const { shared, own } = partsOf(body);
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

function partsOf(body: Body): { shared: Buffer; own: number } {
  return 'pieces' in body ? { shared: body.source, own: pieceBytes } : { shared: body, own: 0 };
}

/** The next piece is made when the system has taken the one before, and other requests have had their turn. */
async function sendInPieces(body: PiecedBody, raw: ServerResponse): Promise<void> {
  for (const piece of body.pieces()) {
    await new Promise<void>((resolve, reject) => void raw.write(piece, (error) => (error ? reject(error) : resolve())));
    await nextTurn();
  }
  raw.end();
}
