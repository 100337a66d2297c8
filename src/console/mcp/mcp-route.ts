import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { QueryProcess } from '../../pipeline/analysis/query-process/query-process.ts';
import type { Logger } from '../../kit/logging/log.ts';

/** The limit of one call: what a page may take, thirty times over. Milliseconds. */
const callMilliseconds = 30_000;
/** As for pages: publishers on the same machine come first. */
const duckdb = { threads: '1', memory_limit: '256MiB' };
/** Bytes of a message: the longest list that is compared, escaped. */
const bodyLimit = 4 * 2 ** 20;

/**
 * The route that answers assistants by MCP over HTTP: for analysts, by their tokens. It keeps nothing between two
 * messages, so it has no sessions.
 */
export function mcpRoute(data: DataDirectory, log: Logger): (scope: FastifyInstance) => Promise<void> {
  const queries = new QueryProcess();
  let opening: Promise<McpHttpHandler> | undefined;
  // Loaded at the first message: most consoles get none.
  const open = async () => {
    const { openMcpHandler } = await import('../../pipeline/analysis/mcp/http-handler.ts');
    return openMcpHandler({
      data,
      log,
      callMilliseconds,
      limits: { duckdb, answer: (order, stop) => queries.ask(order, stop) },
    });
  };

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const handler = await (opening ??= open());
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const message = new Request(new URL(request.url, `http://${request.headers.host}`), {
      method: request.method,
      headers: headersOf(request),
      signal: gone.signal,
      ...(typeof request.body === 'string' && { body: request.body }),
    });
    const answered = await handler.fetch(message);
    answered.headers.set('cache-control', 'no-store');
    return reply.send(answered);
  }

  return async (scope) => {
    scope.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit }, (_request, body, done) =>
      done(null, body),
    );
    scope.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
      const status = error.statusCode ?? 500;
      if (status >= 500)
        log.error({ request_id: request.id, err: error }, 'a message of an assistant failed; answered 500');
      return reply
        .code(status)
        .type('text/plain; charset=utf-8')
        .send(`${status < 500 ? error.message : 'Internal error.'}\n`);
    });
    scope.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/mcp',
      config: { access: 'analyst', byToken: true },
      handler: answer,
    });
    scope.addHook('onClose', async () => {
      queries.close();
      await (await opening)?.close();
    });
  };
}

function headersOf({ raw }: FastifyRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headersDistinct))
    for (const each of value ?? []) headers.append(name, each);
  return headers;
}
