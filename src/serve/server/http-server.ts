import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import caching from '@fastify/caching';
import { fastify } from 'fastify';
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { wholeOf } from '../http/response.ts';
import type { HttpResponse, FixedRoutes } from '../http/response.ts';
import { cachingPlugin } from '../http/caching.ts';
import type { Connections } from './connections.ts';
import { isPicture, pictureFolders } from '../api/pictures.ts';
import type { PublisherApi } from '../api/publisher-api.ts';
import { parseQuery } from '../../kit/http/query.ts';
import type { Query } from '../../kit/http/query.ts';
import { ApiError } from '../../kit/http/errors.ts';
import { pathOf } from './access-log.ts';
import type { AccessLog } from './access-log.ts';
import type { InFlightResponses } from './in-flight-responses.ts';

/** Requests are a line and some headers: who needs longer than this to send them does not mean to. Milliseconds. */
const requestTimeout = 15_000;
/** A socket that says nothing for so long is closed; longer than the usual keep-alive of proxies. Milliseconds. */
const connectionTimeout = 75_000;
const keepAliveTimeout = 72_000;
/** Of the request line and all headers together. Bytes. */
const maxHeaderSize = 16 * 1024;
/** RFC 9110 asks that 8,000 be taken; ours are far shorter. Bytes. */
const maxAddressBytes = 8 * 1024;
/** How often Node looks for requests that overran their time; its own 30 s would double the limits. Milliseconds. */
const connectionsCheckingInterval = 5_000;

/** Of what cannot be read, by Node's word for it; otherwise 400. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** What the HTTP side responds with, and what it counts. */
export interface HttpServerParts {
  api: PublisherApi;
  fixed: FixedRoutes;
  accessLog: AccessLog;
  connections: Connections;
  inFlight: InFlightResponses;
  log: Logger;
}

/** The HTTP side: paths to answers, time and size limits, one log line per request. It knows nothing of feeds. */
export function createHttpServer({
  api,
  fixed,
  accessLog,
  connections,
  inFlight,
  log,
}: HttpServerParts): FastifyInstance {
  const paths = new Set([...api.paths, ...fixed.keys()]);
  accessLog.expect(paths);
  const server = fastify({
    // Fastify writes whole URLs, secrets among them, in some of its own lines: it gets no logger, we write our own.
    logger: false,
    serverFactory(handle) {
      const node = createServer({
        maxHeaderSize,
        headersTimeout: requestTimeout,
        requestTimeout,
        keepAliveTimeout,
        connectionsCheckingInterval,
        // Refused below: Node's own answers have no body and none of our headers.
        requireHostHeader: false,
        // An upgrade is a wish, and nobody here can grant it: the request is answered as it is.
        shouldUpgradeCallback: () => false,
      });
      node.setTimeout(connectionTimeout);
      node.on('connect', (_request, socket: Socket) => {
        // Node has let go of this connection: an error that nobody hears would end the process.
        socket
          .on('error', () => socket.destroy())
          .on('timeout', () => socket.destroy())
          .resume();
        connections.inTurn(socket, () => closeWith(socket, api.error('', wrongMethod())));
      });
      connections.serve(node, handle);
      return node;
    },
    bodyLimit: 1024,
    // Unique over restarts and processes, so that a log of many tells one request's lines apart.
    genReqId: () => randomUUID(),
    // What still arrives while the service closes is answered like all before it.
    return503OnClosing: false,
    // Fastify hands on what this returns as it is.
    routerOptions: { querystringParser: (sent) => parseQuery(sent) as unknown as Record<string, unknown> },
    // An address whose percent-encoding is broken; hooks do not see it.
    frameworkErrors(_error, request, reply) {
      send(reply, api.error(pathOf(request), isTooLong(request) ? tooLong() : unknownPath()));
      accessLog.add(request, reply);
    },
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET') socket.destroy();
      else connections.inTurn(socket, () => closeWith(socket, unreadable(api, error)));
    },
  });
  const send = (reply: FastifyReply, response: HttpResponse) =>
    inFlight.send(
      reply,
      inFlight.hasRoomFor(response) ? response : (response.instead ?? api.overloaded(pathOf(reply.request), response)),
    );

  void server.register(caching, cachingPlugin);
  // Before anything else of the request is read: a body that nobody wants, for one.
  server.addHook('onRequest', (request, reply, done) => {
    const badForm = badFormOf(request);
    if (badForm === undefined && !request.is404) return done();
    const path = pathOf(request);
    if (badForm !== undefined) return void send(reply, api.error(path, badForm));
    // What is logged of a path is cut where a mistyped secret may begin; what is there is told by all of it.
    const [whole = ''] = (request.raw.url ?? '').split(/[?#]/, 1);
    send(reply, api.error(path, paths.has(whole) || isPicture(whole) ? wrongMethod() : unknownPath()));
  });
  server.addHook('onResponse', (request, reply, done) => {
    accessLog.add(request, reply);
    done();
  });
  server.addHook('preClose', () => connections.finished());
  server.setErrorHandler((error, request, reply) => {
    const path = pathOf(request);
    log.error({ request_id: request.id, method: request.method, path, err: error }, 'request failed');
    return send(reply, api.error(path, new ApiError('internal', 'something went wrong on our side; try again later')));
  });

  for (const path of api.paths) {
    // Not `async`: what Fastify does about a handler's promise costs more than the promise.
    server.get(path, ({ query, headers, raw }, reply) => {
      api
        .respond(path, { query: query as Query, headers, remoteAddress: raw.socket.remoteAddress })
        .then((response) => void send(reply, response))
        .catch((error: unknown) => void reply.send(error));
    });
  }
  for (const start of pictureFolders) {
    server.get<{ Params: { name: string } }>(`${start}:name`, async ({ params, headers }, reply) =>
      send(reply, await api.picture(start, params.name, headers)),
    );
  }
  for (const [path, respond] of fixed)
    server.get(path, async (request, reply) =>
      send(reply, await respond(request.headers, request.raw.socket.remoteAddress)),
    );
  return server;
}

/** Returns an error if the request is malformed. */
function badFormOf(request: FastifyRequest): ApiError | undefined {
  if (isTooLong(request)) return tooLong();
  const { httpVersion, headers } = request.raw;
  // Neither was known before HTTP/1.1.
  if (httpVersion !== '1.1') return undefined;
  if (headers.host === undefined) return new ApiError('unreadable_request', 'the Host header is missing');
  if (headers.expect === undefined || /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect)) return undefined;
  return new ApiError('unmet_expectation', 'nothing but 100-continue can be expected');
}

function isTooLong(request: FastifyRequest): boolean {
  return (request.raw.url?.length ?? 0) > maxAddressBytes;
}

function tooLong(): ApiError {
  return new ApiError('address_too_long', `addresses have at most ${maxAddressBytes} characters`);
}

function wrongMethod(): ApiError {
  return new ApiError('wrong_method', 'use GET or HEAD');
}

function unknownPath(): ApiError {
  return new ApiError('unknown_path', 'there is nothing at this address');
}

/** Answers where there is no request to reply to, and closes the connection. */
function closeWith(socket: Socket, { status, headers, more, body }: HttpResponse): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const bytes = body === undefined ? Buffer.alloc(0) : wholeOf(body);
  const all = { ...headers, ...more, 'content-length': String(bytes.length), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`), bytes]),
  );
}

function unreadable(api: PublisherApi, { code, rawPacket }: ConnectionError): HttpResponse {
  // Node does not tell whether the address or a header was too long: a first line without an end was the address.
  const start = (rawPacket as unknown as Buffer | undefined)?.subarray(0, maxAddressBytes).toString('latin1') ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ [^\r\n]*$/.test(start)) return api.error('', tooLong());
  const status = statuses.get(code) ?? 400;
  return { ...api.error('', new ApiError('unreadable_request', 'this is not a request that can be read')), status };
}
