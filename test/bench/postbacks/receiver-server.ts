/**
 * node receiver-server.ts
 *
 * A receiver that answers at once, and nothing at all to paths that begin with /hanging.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  if (request.url?.startsWith('/hanging') !== true) response.end('ok');
});
process.once('SIGTERM', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(JSON.stringify({ address: `http://127.0.0.1:${port}` }));
});
