import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';

export interface FileServer extends AsyncDisposable {
  url: string;
  readonly requests: number;
}

/** Serves the files of a folder as any web server does: whole, or the range that is asked for. */
export async function serveFiles(folder: string): Promise<FileServer> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    const path = join(folder, normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://host').pathname)));
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) {
      response.writeHead(404).end();
      return;
    }
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(first ?? 0);
    const end = last ? Math.min(Number(last), size - 1) : size - 1;
    response.writeHead(first === undefined ? 200 : 206, {
      'accept-ranges': 'bytes',
      'content-length': end - start + 1,
      ...(first !== undefined && { 'content-range': `bytes ${start}-${end}/${size}` }),
    });
    if (request.method === 'HEAD') response.end();
    else createReadStream(path, { start, end }).pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
