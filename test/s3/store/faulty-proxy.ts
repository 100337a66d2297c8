import { createHash } from 'node:crypto';
import { createServer, request as ask, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came by. */
export interface PassedRequest {
  method: string;
  path: string;
  isList: boolean;
  range: string | undefined;
  /** Of its own body. */
  bytes: number;
}

/**
 * What is done to a request: an answer instead of the store's; none at all; the store's answer cut, or falling silent,
 * after so many bytes of its body; its answer lost after the store has done its work; a byte changed under way, of what
 * is written or else of what is read; headers that the store never sees.
 */
export type ProxyFault =
  | { status: number; code: string; message?: string }
  | { silent: true }
  | { cutAfter: number }
  | { silentAfter: number }
  | { answerLost: true }
  | { changed: true }
  | { without: readonly string[] };

/** Stands before a store and spoils what is asked of it. */
export class FaultyProxy implements AsyncDisposable {
  readonly requests: PassedRequest[] = [];
  fault: (request: PassedRequest) => ProxyFault | undefined | Promise<ProxyFault | undefined> = () => undefined;
  /** Resolves when a body has fallen silent. */
  readonly silent: Promise<void>;
  readonly #server: Server;
  readonly #store: URL;
  #tellSilent: () => void = () => undefined;

  private constructor(store: string) {
    this.#store = new URL(store);
    this.#server = createServer((request, response) => void this.#pass(request, response));
    this.silent = new Promise((resolve) => (this.#tellSilent = resolve));
  }

  static async before(store: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(store);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Requests for objects since the last call. */
  takeReads(): PassedRequest[] {
    return this.requests.splice(0).filter(({ isList }) => !isList);
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const passed = {
      method: request.method ?? 'GET',
      path,
      isList: path.includes('list-type=2'),
      range: request.headers.range,
      bytes: Number(request.headers['content-length'] ?? 0),
    };
    this.requests.push(passed);
    const fault = await this.fault(passed);
    if (fault !== undefined && 'silent' in fault) return;
    if (fault !== undefined && 'status' in fault) return refuse(response, fault);
    if (fault !== undefined && 'cutAfter' in fault && fault.cutAfter === 0) return void response.destroy();
    const { hostname: host, port } = this.#store;
    const headers = { ...request.headers };
    if (fault !== undefined && 'without' in fault) for (const name of fault.without) delete headers[name];
    const asked = ask({ host, port, path, method: request.method, headers }, (answer) => {
      if (fault !== undefined && 'answerLost' in fault) {
        answer.resume().on('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (fault !== undefined && 'changed' in fault && request.method === 'GET') {
        answer.on('data', (chunk: Buffer) => response.write(changed(chunk))).on('end', () => response.end());
      } else if (fault !== undefined && ('cutAfter' in fault || 'silentAfter' in fault)) {
        this.#breakOff(answer, response, fault);
      } else {
        answer.pipe(response);
      }
    });
    asked.on('error', () => response.destroy());
    if (fault === undefined || !('changed' in fault) || request.method !== 'PUT') return void request.pipe(asked);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = changed(Buffer.concat(chunks));
    // As stores do; the one behind here does not.
    const md5 = request.headers['content-md5'];
    if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64')) {
      asked.destroy();
      return refuse(response, { status: 400, code: 'BadDigest' });
    }
    asked.end(body);
  }

  #breakOff(
    answer: IncomingMessage,
    response: ServerResponse,
    fault: { cutAfter: number } | { silentAfter: number },
  ): void {
    let left = 'cutAfter' in fault ? fault.cutAfter : fault.silentAfter;
    answer.on('data', (chunk: Buffer) => {
      if (left <= 0) return;
      const part = chunk.subarray(0, left);
      left -= part.length;
      response.write(part, () => {
        if (left > 0) return;
        if ('cutAfter' in fault) response.destroy();
        else this.#tellSilent();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}

function refuse(
  response: ServerResponse,
  { status, code, message = 'no' }: { status: number; code: string; message?: string },
) {
  response.statusCode = status;
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`);
}

function changed(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  if (other.length > 0) other[other.length - 1] = (other[other.length - 1] as number) ^ 1;
  return other;
}
