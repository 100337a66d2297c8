import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Metrics } from '../../../src/kit/metrics/metrics.ts';
import { Connections } from '../../../src/serve/server/connections.ts';

interface Asked {
  path: string;
  request: IncomingMessage;
  response: ServerResponse;
}

/** A server whose answers the test gives, in the order in which they are asked for. */
async function serving(most?: number): Promise<{
  asked: Asked[];
  connections: Connections;
  gauge: (name: string) => Promise<number>;
  read: () => { requests: number; bytes: number };
  open: () => Socket;
  next: () => Promise<Asked>;
}> {
  const metrics = new Metrics();
  const connections = new Connections(metrics, most);
  const asked: Asked[] = [];
  const server = createServer();
  let begun = 0;
  server.on('request', () => begun++);
  let last: Socket | undefined;
  server.on('connection', (socket) => (last = socket));
  connections.serve(server, (request, response) => void asked.push({ path: request.url ?? '', request, response }));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => server.close().closeAllConnections());
  return {
    asked,
    connections,
    async gauge(name) {
      return Number(new RegExp(`^offerline_${name} (\\d+)$`, 'm').exec(await metrics.text())?.[1]);
    },
    read: () => ({ requests: begun, bytes: last?.bytesRead ?? 0 }),
    open() {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      return socket;
    },
    async next() {
      while (asked.length === 0) await nextTurn();
      return asked.shift() as Asked;
    },
  };
}

function requests(...paths: string[]): string {
  return paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');
}

test('the next answer of a connection is begun when the one before has left', async () => {
  const { asked, open, next } = await serving();
  const socket = open();
  socket.write(requests('/1', '/2', '/3'));
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  for (const path of ['/1', '/2', '/3']) {
    const { path: given, response } = await next();
    expect(given).toBe(path);
    // Another connection's answer shows that the server has gone on meanwhile.
    open().write(requests('/other'));
    const other = await next();
    expect(other.path).toBe('/other');
    other.response.end();
    expect(asked).toEqual([]);
    response.end(`answer ${path}`);
  }
  while (!received.includes('answer /3')) await once(socket, 'data');
  expect([...received.matchAll(/answer \/\d/g)].map(([answer]) => answer)).toEqual([
    'answer /1',
    'answer /2',
    'answer /3',
  ]);
});

test('of what a client sends at once little is read before its turn, and all of it is answered', async () => {
  const { open, next, read } = await serving();
  const socket = open();
  const paths = Array.from({ length: 600 }, (_, place) => `/${place}?${'x'.repeat(1000)}`);
  socket.write(requests(...paths));
  for (const [place, path] of paths.entries()) {
    const { path: given, response } = await next();
    expect(given).toBe(path);
    expect(read().requests).toBe(place + 1);
    // A packet beyond what has been asked for.
    expect(read().bytes).toBeLessThan((place + 1) * 1100 + 66_000);
    response.end();
  }
});

test('requests are separated wherever packets end', async () => {
  const { open, next } = await serving();
  const socket = open().setNoDelay();
  const bytes = requests('/1', '/2', '/3', '/4');
  const paths: string[] = [];
  for (const [place, character] of Array.from(bytes).entries()) {
    socket.write(character);
    // Two by two, the second in the packet that ends the first.
    if (place % 2 === 1) await nextTurn();
  }
  while (paths.length < 4) {
    const { path, response } = await next();
    paths.push(path);
    response.end();
  }
  expect(paths).toEqual(['/1', '/2', '/3', '/4']);
});

test('a body that nobody reads is passed over, and what comes behind it is answered', async () => {
  const { open, next } = await serving();
  const body = 'x'.repeat(300_000);
  open().write(`GET /1 HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}${requests('/2', '/3')}`);
  for (const path of ['/1', '/2', '/3']) {
    const { path: given, response } = await next();
    expect(given).toBe(path);
    response.end();
  }
});

test('a connection beyond the limit is closed, and there is room again when another one has gone', async () => {
  const { gauge, open, next } = await serving(2);
  const sockets = [open(), open()];
  for (const socket of sockets) {
    socket.write(requests('/'));
    (await next()).response.end();
  }
  await once(open(), 'close');
  expect(await gauge('connections')).toBe(2);
  expect(await gauge('connections_refused_total')).toBe(1);
  sockets[0]?.destroy();
  while ((await gauge('connections')) === 2) await nextTurn();
  open().write(requests('/again'));
  expect((await next()).path).toBe('/again');
});

test('is finished when every answer under way has left, or its client has gone', async () => {
  const { connections, gauge, open, next } = await serving();
  await connections.finished();
  open().write(requests('/1'));
  const first = await next();
  const gone = open();
  gone.write(requests('/a'));
  await next();
  let finished = false;
  const finishing = connections.finished().then(() => (finished = true));
  gone.destroy();
  while ((await gauge('connections')) === 2) await nextTurn();
  expect(finished).toBe(false);
  first.response.end();
  await finishing;
});

test.each([7, 20, 1000])(
  'a body is read before its answer, and no more than it, in packets of %i bytes',
  async (size) => {
    const { asked, open, next } = await serving();
    const post = (path: string, body: string) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const sent =
      post('/1', 'one\r\n\r\nGET /never HTTP/1.1\r\n\r\n') + post('/2', '') + requests('/3') + post('/4', 'four');
    const socket = open();
    for (let at = 0; at < sent.length; at += size) socket.write(sent.slice(at, at + size));
    const bodies: string[] = [];
    for (const path of ['/1', '/2', '/3', '/4']) {
      const { path: given, request, response } = await next();
      expect(given).toBe(path);
      bodies.push(await textOf(request));
      expect(asked).toEqual([]);
      response.end();
    }
    expect(bodies).toEqual(['one\r\n\r\nGET /never HTTP/1.1\r\n\r\n', '', '', 'four']);
  },
);
