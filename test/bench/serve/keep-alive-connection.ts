import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Received {
  /** 0 where the connection broke before the answer was there. */
  status: number;
  bodyBytes: number;
}

/** A request that gets no answer by then has failed. Milliseconds. */
const patience = 10_000;

const endOfHead = Buffer.from('\r\n\r\n');

/**
 * One HTTP/1.1 connection, one request at a time. It reads no more of an answer than it has to: Node's own client
 * costs more than the servers that it would measure.
 */
export class KeepAliveConnection {
  readonly #socket: Socket;
  #head: Buffer = Buffer.alloc(0);
  #answer: Received | undefined;
  #missingBytes = 0;
  #received: ((received: Received) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setTimeout(patience, () => socket.destroy());
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => this.#finish({ status: 0, bodyBytes: 0 }));
  }

  static async open(address: string): Promise<KeepAliveConnection> {
    const { hostname, port } = new URL(address);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new KeepAliveConnection(socket);
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  get(path: string): Promise<Received> {
    return new Promise((resolve) => {
      this.#received = resolve;
      if (this.isOpen) this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      else this.#finish({ status: 0, bodyBytes: 0 });
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#answer === undefined) {
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const end = this.#head.indexOf(endOfHead);
      if (end === -1) return;
      const head = this.#head.toString('latin1', 0, end);
      const bodyBytes = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN);
      if (Number.isNaN(bodyBytes)) return void this.#socket.destroy(new Error('an answer without Content-Length'));
      this.#answer = {
        status: Number(head.slice(9, 12)),
        bodyBytes,
      };
      this.#missingBytes = bodyBytes - (this.#head.length - end - endOfHead.length);
      this.#head = Buffer.alloc(0);
    } else {
      this.#missingBytes -= chunk.length;
    }
    if (this.#missingBytes <= 0) this.#finish(this.#answer);
  }

  #finish(received: Received): void {
    const resolve = this.#received;
    this.#received = undefined;
    this.#answer = undefined;
    resolve?.(received);
  }
}
