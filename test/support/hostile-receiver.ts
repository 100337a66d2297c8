import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';

/**
 * A receiver of postbacks that does what receivers must not, as a process of its own. What it does is the last part of
 * the path; it speaks HTTP by hand, since a library would not let it. Run by itself it says its ports and serves.
 */

/** The certificate and key of `localhost`, signed by itself and made for tests only. */
export const selfSigned = readFileSync(new URL('self-signed.pem', import.meta.url), 'utf8');

interface Ports {
  http: number;
  /** By a certificate that nobody vouches for. */
  https: number;
  /** Takes connections and never says a word. */
  mute: number;
}

export interface HostileReceiver {
  /** Such as `http://127.0.0.1:40123/hang`. */
  url(behaviour: string, port?: keyof Ports, host?: string): string;
  /** By behaviour: requests that arrived, and bytes that were written in answer. */
  seen(): Promise<Record<string, { requests: number; bytes: number }>>;
  close(): void;
}

export async function startHostileReceiver(): Promise<HostileReceiver> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ports = await new Promise<Ports>(
    (resolve) => void child.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString()) as Ports)),
  );
  const url: HostileReceiver['url'] = (behaviour, port = 'http', host = '127.0.0.1') =>
    `${port === 'http' ? 'http' : 'https'}://${host}:${ports[port]}/${behaviour}`;
  return {
    url,
    seen: async () => (await (await fetch(url('seen'))).json()) as Record<string, { requests: number; bytes: number }>,
    close: () => void child.kill('SIGKILL'),
  };
}

/** How often a slow receiver sends its next byte, in milliseconds. */
const drip = 20;
const day = 86_400;

const seen: Record<string, { requests: number; bytes: number }> = {};

const behaviours: Record<string, (socket: Socket, write: (data: string | Buffer) => boolean) => void> = {
  ok: (_socket, write) => void write(answer('200 OK', 'fine')),
  empty: (_socket, write) => void write('HTTP/1.1 204 No Content\r\n\r\n'),
  seen: (_socket, write) => void write(answer('200 OK', JSON.stringify(seen))),
  hang: () => undefined,
  drip: (socket, write) => {
    write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
    repeat(socket, () => write('.'));
  },
  'drip-failure': (socket, write) => {
    write('HTTP/1.1 503 Busy\r\ncontent-length: 1000000\r\n\r\n');
    repeat(socket, () => write('.'));
  },
  'drip-head': (socket, write) => {
    write('HTTP/1.1 200 OK\r\nx: ');
    repeat(socket, () => write('.'));
  },
  endless: (socket, write) => endless(socket, write, 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n'),
  'endless-failure': (socket, write) =>
    endless(socket, write, 'HTTP/1.1 500 Broken\r\ncontent-type: text/plain\r\n\r\n'),
  'endless-head': (socket, write) => endless(socket, write, 'HTTP/1.1 200 OK\r\nx: '),
  reset: (socket, write) => {
    write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\npart of it');
    // Once the answer is on its way: a reset would overtake what is still here.
    setTimeout(() => socket.resetAndDestroy(), drip);
  },
  'reset-whole': (socket, write) => {
    write(answer('200 OK', 'fine'));
    setTimeout(() => socket.resetAndDestroy(), drip);
  },
  'bad-chunks': (_socket, write) => void write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
  silent: (socket) => void socket.destroy(),
  redirect: (_socket, write) =>
    void write(answer('302 Found', '', 'location: http://169.254.169.254/latest/meta-data/\r\n')),
  'redirect-here': (_socket, write) => void write(answer('307 Temporary Redirect', '', 'location: /ok\r\n')),
  gone: (_socket, write) => void write(answer('410 Gone', '')),
  missing: (_socket, write) => void write(answer('404 Not Found', '')),
  later: (_socket, write) => void write(answer('429 Too Many Requests', '', `retry-after: ${day}\r\n`)),
  'later-by-date': (_socket, write) =>
    void write(
      answer(
        '503 Service Unavailable',
        '',
        'date: Fri, 20 Nov 2026 12:00:00 GMT\r\nretry-after: Sat, 21 Nov 2026 12:00:00 GMT\r\n',
      ),
    ),
  foreign: (_socket, write) => void write('SSH-2.0-OpenSSH_9.9\r\n'),
  hint: (_socket, write) => void write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${answer('200 OK', 'fine')}`),
  'hint-hang': (_socket, write) => void write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  switch: (_socket, write) =>
    void write('HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'),
};

function answer(status: string, body: string, headers = ''): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function repeat(socket: Socket, action: () => void): void {
  const timer = setInterval(action, drip);
  socket.on('close', () => clearInterval(timer));
}

function endless(socket: Socket, write: (data: string | Buffer) => boolean, head: string): void {
  write(head);
  const block = Buffer.alloc(16 * 1024, 'x');
  function more(): void {
    while (!socket.destroyed && write(block));
  }
  socket.on('drain', more);
  more();
}

function receive(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    const behaviour = /^\w+ \/([\w-]+)/.exec(data.toString())?.[1] ?? '';
    const count = (seen[behaviour] ??= { requests: 0, bytes: 0 });
    count.requests += 1;
    behaviours[behaviour]?.(socket, (bytes) => {
      count.bytes += bytes.length;
      return socket.write(bytes);
    });
  });
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, () => resolve()));
  return (server.address() as AddressInfo).port;
}

if (import.meta.main) {
  const ports: Ports = {
    http: await portOf(createServer(receive)),
    https: await portOf(
      createTlsServer({ key: selfSigned, cert: selfSigned }, receive).on('tlsClientError', () => undefined),
    ),
    mute: await portOf(createServer((socket) => void socket.on('error', () => undefined))),
  };
  process.stdout.write(`${JSON.stringify(ports)}\n`);
}
