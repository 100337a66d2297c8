import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const beginnings = {
  png: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  jpg: Buffer.from('\xff\xd8\xff\xe0\x00\x10JFIF', 'latin1'),
  gif: Buffer.from('GIF89a', 'latin1'),
  webp: Buffer.from('RIFF\x10\x00\x00\x00WEBPVP8 ', 'latin1'),
  avif: Buffer.from('\x00\x00\x00\x1cftypavif\x00\x00\x00\x00mif1miaf', 'latin1'),
} as const;
export type PictureKind = keyof typeof beginnings;

/** A picture by its first bytes; `filling` distinguishes two of a kind, and `length` is the length of all. */
export function picture(kind: PictureKind, filling = 'a', length = 100): Buffer {
  return Buffer.concat([beginnings[kind], Buffer.alloc(length, filling)]).subarray(0, length);
}

/** An advertiser's server on loopback; what it answers may be changed at any time. */
export class PictureServer implements AsyncDisposable {
  /** By path. Bytes are sent as `image/png`, whatever they are; what is not here is a 404. */
  readonly paths = new Map<string, Buffer | Handler>();
  readonly requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  connections = 0;
  readonly #server = createServer((request, response) => {
    const path = request.url ?? '';
    this.requests.push({ path, headers: request.headers });
    const found = this.paths.get(path);
    if (found === undefined) response.writeHead(404).end('nothing');
    else if (typeof found === 'function') found(request, response);
    else response.writeHead(200, { 'content-type': 'image/png' }).end(found);
  }).on('connection', () => (this.connections += 1));

  static async start(): Promise<PictureServer> {
    const server = new PictureServer();
    await new Promise<void>((resolve) => void server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The address of a path. */
  at(path: string): string {
    return `http://${this.host}${path}`;
  }

  /** The paths asked for since this was asked last. */
  asked(): string[] {
    return this.requests.splice(0).map(({ path }) => path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}
