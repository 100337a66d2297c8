import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { Redirects } from '../../../src/tracker/server/redirects.ts';

const headers = ['cache-control', 'no-store', 'x-robots-tag', 'noindex'];
let now = 0;

/** A server that leads on to the address that a request's header names, by `Redirects` or by Node alone. */
async function serve(isByNode: boolean): Promise<Server> {
  const redirects = new Redirects(headers, () => now);
  const server = createServer((request, response) => {
    const address = Buffer.from(String(request.headers['x-to']), 'base64').toString('latin1');
    try {
      if (isByNode) response.writeHead(302, ['location', address, 'content-length', '0', ...headers]).end();
      else redirects.send(response, address);
    } catch {
      response.writeHead(500, { 'content-length': '0' }).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return server;
}

interface Asked {
  to: string;
  version?: string;
  connection?: string;
}

/** All that a server says to requests that come one behind the other over one connection, of which the last ends it. */
async function answers(server: Server, ...asked: Asked[]): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const requests = [...asked, { to: 'https://last.example/', connection: 'close' }].map(
    ({ to, version = '1.1', connection = 'keep-alive' }: Asked) =>
      `GET / HTTP/${version}\r\nHost: x\r\nConnection: ${connection}\r\nX-To: ${Buffer.from(to, 'latin1').toString('base64')}\r\n\r\n`,
  );
  socket.end(requests.join(''));
  return (await text(socket)).replaceAll(/^Date: .*$/gm, (line) => {
    expect(Math.abs(Date.now() - Date.parse(line.slice(6)))).toBeLessThan(60_000);
    return 'Date: now';
  });
}

it('says what Node says, to whoever asks and however often in a second', async () => {
  now = 1_000_000;
  const asked = [
    { to: 'https://one.example/?c=1' },
    { to: 'https://two.example/$&$1?c=2' },
    { to: 'https://two.example/', version: '1.0' },
    { to: 'https://one.example/?c=1', connection: 'Keep-Alive, x' },
    { to: 'keep-alive' },
    { to: '302' },
  ];
  const [byNode, ours] = [await serve(true), await serve(false)];
  const expected = await answers(byNode, ...asked);
  expect(expected.match(/location: /g)).toHaveLength(7);
  expect(await answers(ours, ...asked)).toBe(expected);
  expect(await answers(ours, ...asked.toReversed())).toBe(await answers(byNode, ...asked.toReversed()));
});

it('copies a head within its second only', async () => {
  now = 2_000_000;
  const server = await serve(false);
  const timeouts = async () => (await answers(server, { to: 'https://one.example/' })).match(/(?<=timeout=)\d+/g);
  server.keepAliveTimeout = 5000;
  expect(await timeouts()).toEqual(['5']);
  server.keepAliveTimeout = 9000;
  now += 999;
  expect(await timeouts()).toEqual(['5']);
  now += 1;
  expect(await timeouts()).toEqual(['9']);
  // A clock that was set back.
  server.keepAliveTimeout = 7000;
  now -= 5000;
  expect(await timeouts()).toEqual(['7']);
});

it('sends nobody to an address that a header cannot hold', async () => {
  now = 3_000_000;
  const server = await serve(false);
  const said = await answers(
    server,
    { to: 'https://one.example/' },
    { to: 'https://two.example/\r\nset-cookie: a=b' },
    { to: 'https://two.example/\0' },
  );
  expect(said.match(/^HTTP\/1.1 \d+/gm)).toEqual(['HTTP/1.1 302', 'HTTP/1.1 500', 'HTTP/1.1 500', 'HTTP/1.1 302']);
  expect(said).not.toContain('set-cookie');
});
