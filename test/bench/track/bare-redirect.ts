/**
 * The yardstick of the tracker: Node's own HTTP server sends every request on to the same address, and nothing else
 * happens.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const location = `https://advertiser.example/offers/117/landing?tid=${'0'.repeat(32)}&publisher=site-10&sub=campaign-1`;

const server = createServer((_request, response) => {
  response.writeHead(302, { location, 'content-length': '0' }).end();
});
process.once('SIGTERM', () => process.exit());
server.listen({ host: '127.0.0.1', port: 0 }, () => {
  process.send?.({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
