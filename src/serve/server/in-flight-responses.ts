import type { ServerResponse } from 'node:http';
import { pieceBytes } from '../http/response.ts';
import type { Body } from '../http/response.ts';
import type { Gauge } from '../http/metrics.ts';

/** As much as prepared pages may take: that many pages can be on their way at once, whatever their clients do. */
const mostBytes = 128 * 1024 * 1024;
/** Errors, and what tells of the service itself, always leave: all connections together have room for so much of each. */
const small = 32 * 1024;

/** The bodies that clients have not taken yet. One that several are taking is in memory once, and counts once. */
export class UnsentBodies {
  readonly #clients = new Map<Buffer, number>();
  #bytes = 0;

  hasRoomFor(body: Body): boolean {
    if (body.length <= small || this.#bytes === 0) return true;
    const { shared, own } = partsOf(body);
    return this.#bytes + own + (this.#clients.has(shared) ? 0 : shared.length) <= mostBytes;
  }

  /** Counts a body until its answer has left, or its client has gone. */
  hold(body: Body, response: ServerResponse): void {
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

  get gauges(): Gauge[] {
    return [
      {
        name: 'offerline_unsent_bytes',
        help: 'Memory of answers that their clients have not taken yet.',
        value: this.#bytes,
      },
      { name: 'offerline_unsent_bytes_limit', help: 'Beyond so much, pages are refused by 503.', value: mostBytes },
    ];
  }
}

function partsOf(body: Body): { shared: Buffer; own: number } {
  return 'pieces' in body ? { shared: body.source, own: pieceBytes } : { shared: body, own: 0 };
}
