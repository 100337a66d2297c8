import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import caching from '@fastify/caching';
import { fastify } from 'fastify';
import type { ConnectionError, FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { sendAnswer, withHeaders } from './answer.ts';
import type { Answer, FixedAnswers } from './answer.ts';
import { AnswersUnderWay } from './answers-under-way.ts';
import { cacheControl, cachingPlugin } from './caching.ts';
import type { Metrics } from './metrics.ts';
import { isPicture, pictureFolders } from './pictures.ts';
import type { PublisherApi } from './publisher-api.ts';
import { parseQuery } from './query.ts';
import type { Query } from './query.ts';
import { Refusal } from './refusal.ts';
import { pathOf, RequestRecords } from './request-records.ts';

/** Requests are a line and some headers: who needs longer than this to send them does not mean to. Milliseconds. */
const requestTimeout = 15_000;
/** A socket that says nothing for so long is closed; longer than the usual keep-alive of proxies. Milliseconds. */
const connectionTimeout = 75_000;
const keepAliveTimeout = 72_000;
/** Of the request line and all headers together. Bytes. */
const maxHeaderSize = 16 * 1024;
/** RFC 9110 asks that 8,000 be taken; ours are far shorter. Bytes. */
const longestAddress = 8 * 1024;
/** How often Node looks for requests that overran their time; its own 30 s would double the limits. Milliseconds. */
const connectionsCheckingInterval = 5_000;

/** What plugins would add to an answer that hooks do not see. */
const unseenByPlugins = { 'cache-control': cacheControl.passing };

/** The HTTP side: paths to answers, time and size limits, one log line per request. It knows nothing of feeds. */
export function createHttpServer(api: PublisherApi, fixed: FixedAnswers, metrics: Metrics, log: Logger): FastifyInstance {
  const paths = new Set([...api.paths, ...fixed.keys()]);
  const records = new RequestRecords(metrics, log, paths);
  const server = fastify({
    // Fastify writes whole URLs, secrets among them, in some of its own lines: it gets no logger, we write our own.
    logger: false,
    http: { maxHeaderSize, headersTimeout: requestTimeout, connectionsCheckingInterval },
    requestTimeout,
    connectionTimeout,
    keepAliveTimeout,
    bodyLimit: 1024,
    // Unique over restarts and processes, so that a log of many tells one request's lines apart.
    genReqId: () => randomUUID(),
    // What still arrives while the service closes is answered like all before it.
    return503OnClosing: false,
    routerOptions: { querystringParser: parseQuery },
    // An address whose percent-encoding is broken; hooks do not see it.
    frameworkErrors(_error, request, reply) {
      sendAnswer(reply, withHeaders(api.refuse(pathOf(request), isTooLong(request) ? tooLong() : unknownPath()), unseenByPlugins));
      records.add(request, reply);
    },
    clientErrorHandler: (error, socket) => refuseConnection(api, error, socket),
  });

  void server.register(caching, cachingPlugin);
  // Before anything else of the request is read: a body that nobody wants, for one.
  server.addHook('onRequest', (request, reply, done) => {
    const tooLongAddress = isTooLong(request);
    if (!tooLongAddress && !request.is404) return done();
    const path = pathOf(request);
    if (tooLongAddress) return void sendAnswer(reply, api.refuse(path, tooLong()));
    const refusal = paths.has(path) || isPicture(path) ? new Refusal('wrong_method', 'use GET or HEAD') : unknownPath();
    sendAnswer(reply, api.refuse(path, refusal));
  });
  server.addHook('onResponse', (request, reply, done) => {
    records.add(request, reply);
    done();
  });
  server.addHook('onClose', async () => records.flush());
  const underWay = new AnswersUnderWay(server.server);
  server.addHook('preClose', () => underWay.finished());
  server.setErrorHandler((error, request, reply) => {
    const path = pathOf(request);
    log.error({ request_id: request.id, method: request.method, path, err: error }, 'request failed');
    return sendAnswer(reply, api.refuse(path, new Refusal('internal', 'something went wrong on our side; try again later')));
  });

  for (const path of api.paths) {
    // Not `async`: what Fastify does about a handler's promise costs more than the promise.
    server.get(path, ({ query, headers, raw }, reply) => {
      api.answer(path, { query: query as Query, headers, remoteAddress: raw.socket.remoteAddress })
        .then((answer) => void sendAnswer(reply, answer))
        .catch((error: unknown) => void reply.send(error));
    });
  }
  for (const start of pictureFolders) {
    server.get<{ Params: { name: string } }>(`${start}:name`, (request, reply) => sendAnswer(reply, api.picture(start, request.params.name)));
  }
  for (const [path, answer] of fixed) server.get(path, async (request, reply) => sendAnswer(reply, await answer(request.headers)));
  return server;
}

function isTooLong(request: FastifyRequest): boolean {
  return (request.raw.url?.length ?? 0) > longestAddress;
}

function tooLong(): Refusal {
  return new Refusal('address_too_long', `addresses have at most ${longestAddress} characters`);
}

function unknownPath(): Refusal {
  return new Refusal('unknown_path', 'there is nothing at this address');
}

/** Answers what could not be read as a request at all, and closes the connection. */
function refuseConnection(api: PublisherApi, error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, more, body = Buffer.alloc(0) } = unreadable(api, error);
  const lines = Object.entries({ ...headers, ...more, ...unseenByPlugins, 'content-length': String(body.length), connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n`), body]));
}

function unreadable(api: PublisherApi, { code, rawPacket }: ConnectionError): Answer {
  // Node does not tell whether the address or a header was too long: a first line without an end was the address.
  const start = (rawPacket as unknown as Buffer | undefined)?.subarray(0, longestAddress).toString('latin1') ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ [^\r\n]*$/.test(start)) return api.refuse('', tooLong());
  const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  return { ...api.refuse('', new Refusal('unreadable_request', 'this is not a request that can be read')), status };
}
