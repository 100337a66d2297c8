/**
 * node constant-server.ts <bytes>…
 *
 * The yardstick of serving: Fastify sends a ready buffer of each of these sizes at /<bytes>, and nothing else happens.
 */
import { fastify } from 'fastify';

const server = fastify();
for (const size of new Set(process.argv.slice(2))) {
  const body = Buffer.alloc(Number(size), ' ');
  server.get(`/${size}`, (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(body),
  );
}
process.once('SIGTERM', () => process.exit());
process.stdout.write(JSON.stringify({ address: await server.listen({ host: '127.0.0.1', port: 0 }) }));
