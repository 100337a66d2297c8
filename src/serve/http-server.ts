import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { sendAnswer } from './answer.ts';
import { AnswersUnderWay } from './answers-under-way.ts';
import { healthAnswers } from './health.ts';
import type { PublishedSnapshot } from './published-snapshot.ts';
import type { PublisherApi } from './publisher-api.ts';
import { parseQuery } from './query.ts';
import type { Query } from './query.ts';
import { Refusal } from './refusal.ts';

/** Requests are a line and some headers: who needs longer than this to send them does not mean to. Milliseconds. */
const requestTimeout = 15_000;
/** A socket that says nothing for so long is closed; longer than the usual keep-alive of proxies. Milliseconds. */
const connectionTimeout = 75_000;
const keepAliveTimeout = 72_000;
const maxHeaderSize = 16 * 1024;
/** How often Node looks for requests that overran their time; its own 30 s would double the limits. Milliseconds. */
const connectionsCheckingInterval = 5_000;

/** The HTTP side: paths to answers, time and size limits, one log line per request. It knows nothing of feeds. */
export function createHttpServer(api: PublisherApi, snapshot: () => PublishedSnapshot | undefined, log: Logger): FastifyInstance {
  const server = fastify({
    // Fastify writes whole URLs, secrets among them, in some of its own lines: it gets no logger, we write our own.
    logger: false,
    http: { maxHeaderSize, headersTimeout: requestTimeout, connectionsCheckingInterval },
    requestTimeout,
    connectionTimeout,
    keepAliveTimeout,
    bodyLimit: 1024,
    // What still arrives while the service closes is answered like all before it.
    return503OnClosing: false,
    routerOptions: { querystringParser: parseQuery },
    // An address whose percent-encoding is broken; hooks do not see it.
    frameworkErrors(_error, request, reply) {
      sendAnswer(reply, api.refuse(pathOf(request), unknownPath()));
      logAnswer(log, request, reply);
    },
    clientErrorHandler: (error, socket) => refuseConnection(api, error.code, socket),
  });

  const paths = new Set([...api.paths, ...healthAnswers.keys()]);
  // Before anything else of the request is read: a body that nobody wants, for one.
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = pathOf(request);
    const refusal = paths.has(path) ? new Refusal('wrong_method', 'use GET or HEAD') : unknownPath();
    sendAnswer(reply, api.refuse(path, refusal));
  });
  server.addHook('onResponse', (request, reply, done) => {
    logAnswer(log, request, reply);
    done();
  });
  const underWay = new AnswersUnderWay(server.server);
  server.addHook('preClose', () => underWay.finished());
  server.setErrorHandler((error, request, reply) => {
    const path = pathOf(request);
    log.error({ request_id: request.id, method: request.method, path, err: error }, 'request failed');
    return sendAnswer(reply, api.refuse(path, new Refusal('internal', 'something went wrong on our side; try again later')));
  });

  for (const path of api.paths) {
    server.get(path, (request, reply) => sendAnswer(reply, api.answer(path, request.query as Query)));
  }
  for (const [path, answer] of healthAnswers) server.get(path, (_request, reply) => sendAnswer(reply, answer(snapshot())));
  return server;
}

function unknownPath(): Refusal {
  return new Refusal('unknown_path', 'there is nothing at this address');
}

function logAnswer(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const ms = Math.round(reply.elapsedTime * 100) / 100;
  log.info({ request_id: request.id, method: request.method, path: pathOf(request), status: reply.statusCode, ms }, 'answered');
}

/**
 * The path without the query. Cut at the first character that no path of ours has: a mistyped address
 * (`/offers&site_secret=…`) must not bring a secret into the log either.
 */
function pathOf(request: FastifyRequest): string {
  return /^[\w/.-]{0,200}/.exec(request.raw.url ?? '')?.[0] ?? '';
}

/** Answers what could not be read as a request at all, and closes the connection. */
function refuseConnection(api: PublisherApi, code: string, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const { headers, body } = api.refuse('', new Refusal('unreadable_request', 'this is not a request that can be read'));
  const lines = Object.entries({ ...headers, 'content-length': String(body.length), connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n`), body]));
}
