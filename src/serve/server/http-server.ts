import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fastify } from 'fastify';
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { ApiError } from '../../kit/http/errors.ts';
import { readQueryString } from '../../kit/http/query.ts';
import { describeInterface } from '../api/openapi/document.ts';
import { isAt } from '../api/operations.ts';
import { parametersOf, unreadableBody } from '../api/request-body.ts';
import { isPicture, pictureFolder, pictureFolders } from '../api/pictures.ts';
import { pictureSchema } from '../api/openapi/route-schema.ts';
import type { PublisherApi } from '../api/publisher-api.ts';
import { maxBodyBytes } from '../http/body-limit.ts';
import { parameterError } from '../http/parameters.ts';
import { wholeOf, withHeaders } from '../http/response.ts';
import type { HttpResponse, FixedRoutes, PiecedBody } from '../http/response.ts';
import type { Portal } from '../portal/portal.ts';
import { pathOf } from './access-log.ts';
import type { AccessLog } from './access-log.ts';
import type { Connections } from './connections.ts';
import type { UnsentAnswers } from './unsent-answers.ts';

/** Requests are a line and some headers: anyone who needs longer to send them does not mean to. Milliseconds. */
const requestTimeout = 15_000;
/** A socket that says nothing for so long is closed; longer than the usual keep-alive of proxies. Milliseconds. */
const connectionTimeout = 75_000;
const keepAliveTimeout = 72_000;
/** Bytes of the request line and all headers together. */
const maxHeaderSize = 16 * 1024;
/** RFC 9110 asks that 8,000 be taken; ours are far shorter. Bytes. */
const maxAddressBytes = 8 * 1024;
/** Milliseconds between Node's looks for requests that overran their time; its own 30 s would double the limits. */
const connectionsCheckingInterval = 5_000;

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Statuses of what cannot be read, by Node's word for it; otherwise 400. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** Parts that the HTTP server answers with, and that count its answers. */
export interface HttpServerParts {
  api: PublisherApi;
  portal: Portal;
  fixed: FixedRoutes;
  accessLog: AccessLog;
  connections: Connections;
  unsent: UnsentAnswers;
  log: Logger;
  /** Address at which publishers reach the service, if that is configured. */
  publicUrl: string | undefined;
}

/** Makes the HTTP side: paths to answers, time and size limits, one log line per request. It knows nothing of feeds. */
export async function createHttpServer(parts: HttpServerParts): Promise<FastifyInstance> {
  const { api, portal, fixed, accessLog, connections, unsent, log, publicUrl } = parts;
  const answer = (reply: FastifyReply, response: HttpResponse) =>
    send(reply, unsent, unsent.hasRoomFor(response) ? response : (response.instead ?? api.overloaded(reply.request)));
  const server = limitedServer(parts, answer);
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  server.decorateReply('answer', function decorated(this: FastifyReply, response: HttpResponse) {
    return answer(this, response);
  });
  refuseMalformed(server, api);
  server.addHook('onResponse', (request, reply, done) => {
    accessLog.add(request, reply);
    done();
  });
  server.addHook('preClose', () => connections.finished());
  answerErrors(server, api, log);

  await describeInterface(server, publicUrl);
  api.register(server);
  portal.register(server);
  addPictures(server, api);
  addFixed(server, fixed);
  return server;
}

/** A server with limits of time and size, which answers what never becomes a request, too. */
function limitedServer(
  { api, accessLog, connections }: HttpServerParts,
  answer: (reply: FastifyReply, response: HttpResponse) => FastifyReply,
): FastifyInstance {
  return fastify({
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
      connections.serve(node, handle);
      node.on('connect', (_request, socket: Socket) => {
        // Node has let go of this connection: an error that nobody hears would end the process.
        socket
          .on('error', () => socket.destroy())
          .on('timeout', () => socket.destroy())
          .resume();
        connections.inTurn(socket, () => answerAndClose(socket, wrongMethod(api, undefined, readingMethods)));
      });
      return node;
    },
    bodyLimit: maxBodyBytes,
    // Fastify's own routes of HEAD give a 304 a length.
    exposeHeadRoutes: false,
    // Unique over restarts and processes, so that one request's lines are known in a log of many.
    genReqId: () => randomUUID(),
    // What still arrives while the service closes is answered like all before it.
    return503OnClosing: false,
    // Fastify hands on what this returns as it is.
    routerOptions: { querystringParser: (sent) => readQueryString(sent) as Record<string, unknown> },
    // An address whose percent-encoding is broken; hooks do not see it.
    frameworkErrors(_error, request, reply) {
      answer(reply, api.error(request, isTooLong(request) ? tooLong() : unknownPath()));
      accessLog.add(request, reply);
    },
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET') socket.destroy();
      else connections.inTurn(socket, () => answerAndClose(socket, unreadable(api, error)));
    },
  });
}

/** Refuses requests that are malformed, or at no address of ours, or by a method that is not of their address. */
function refuseMalformed(server: FastifyInstance, api: PublisherApi): void {
  const routes = new Map<string, Set<string>>();
  server.addHook('onRoute', ({ url, method }) => {
    const methods = routes.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    routes.set(url, methods);
  });
  const methodsAt = (path: string) => [...routes].find(([route]) => isAt(route, path))?.[1];
  // Before anything else of the request is read: a body that nobody wants, for one.
  server.addHook('onRequest', (request, reply, done) => {
    const malformed = malformedError(request);
    if (malformed === undefined && !request.is404) return done();
    // What is logged of a path is cut where a mistyped secret may begin; a path is found by all of it.
    const [whole = ''] = (request.raw.url ?? '').split(/[?#]/, 1);
    const methods = isPicture(whole) ? readingMethods : methodsAt(whole);
    if (malformed !== undefined || methods === undefined)
      return void reply.answer(api.error(request, malformed ?? unknownPath()));
    reply.answer(wrongMethod(api, request, methods));
  });
}

function answerErrors(server: FastifyInstance, api: PublisherApi, log: Logger): void {
  server.setErrorHandler(
    async (error: Error & { validation?: { instancePath: string; message?: string }[] }, request, reply) => {
      const [mistake] = error.validation ?? [];
      if (mistake !== undefined) {
        const name = mistake.instancePath.slice(1);
        return reply.answer(api.error(request, parameterError(parametersOf(request), name, mistake.message ?? '')));
      }
      const { id, method } = request;
      if (error instanceof ApiError) {
        if (error.cause !== undefined)
          log.warn(
            { request_id: id, method, path: pathOf(request), err: error.cause },
            'request cannot be answered now',
          );
        return reply.answer(await api.refusal(error, request, reply));
      }
      // Fastify's word for a body of another kind or size.
      if ((error as { code?: string }).code?.startsWith('FST_ERR_CTP_') === true)
        return reply.answer(api.error(request, unreadableBody()));
      log.error({ request_id: id, method, path: pathOf(request), err: error }, 'request failed');
      const internal = new ApiError('internal', 'something went wrong on our side; try again later');
      return reply.answer(api.error(request, internal));
    },
  );
}

function addPictures(server: FastifyInstance, api: PublisherApi): void {
  for (const folder of pictureFolders)
    for (const method of ['GET', 'HEAD'])
      server.route<{ Params: { name: string } }>({
        method,
        url: `${folder}:name`,
        schema: pictureSchema(method === 'GET' && folder === pictureFolder),
        handler: async (request, reply) => reply.answer(await api.picture(request, request.params.name)),
      });
}

function addFixed(server: FastifyInstance, fixed: FixedRoutes): void {
  for (const [path, respond] of fixed)
    for (const method of ['GET', 'HEAD'])
      server.route({
        method,
        url: path,
        schema: { hide: true },
        handler: async (request, reply) =>
          reply.answer(await respond(request.headers, request.raw.socket.remoteAddress)),
      });
}

function send(reply: FastifyReply, unsent: UnsentAnswers, { status, headers, body }: HttpResponse): FastifyReply {
  reply.code(status).headers(headers);
  if (body === undefined) return reply.send();
  if (reply.request.method === 'HEAD') return reply.header('content-length', body.length).send();
  if ('pieces' in body) {
    reply.hijack();
    reply.raw.writeHead(status, { ...(reply.getHeaders() as OutgoingHttpHeaders), 'content-length': body.length });
    // It fails where the client goes before it has all, and that is no failure of ours.
    void sendInPieces(body, reply.raw).catch(() => undefined);
    unsent.hold(body, reply.raw);
    return reply;
  }
  reply.send(body);
  // Nearly always the system has taken all of it by now.
  if (reply.raw.writableLength > 0) unsent.hold(body, reply.raw);
  return reply;
}

/**
 * The next piece is made, in the same memory, when the system has taken the one before and other requests have had
 * their turn. A stream piped by Fastify would have a piece of its own for all that the system takes: 300 clients of 4
 * MB each took 100 MB more.
 */
async function sendInPieces(body: PiecedBody, raw: ServerResponse): Promise<void> {
  for (const piece of body.pieces()) {
    await new Promise<void>((resolve, reject) => void raw.write(piece, (error) => (error ? reject(error) : resolve())));
    await nextTurn();
  }
  raw.end();
}

/** Returns an error if the request is malformed. */
function malformedError(request: FastifyRequest): ApiError | undefined {
  if (isTooLong(request)) return tooLong();
  const { httpVersion, headers } = request.raw;
  // What follows a head is read as far as its length says.
  if (request.method === 'POST' && headers['transfer-encoding'] !== undefined) return unreadableBody();
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

function wrongMethod(
  api: PublisherApi,
  request: FastifyRequest | undefined,
  methods: ReadonlySet<string>,
): HttpResponse {
  const error = api.error(request, new ApiError('wrong_method', `use ${[...methods].join(' or ')}`));
  return withHeaders(error, { allow: [...methods].join(', ') });
}

function unknownPath(): ApiError {
  return new ApiError('unknown_path', 'there is nothing at this address');
}

/** Answers where there is no request to reply to, and closes the connection. */
function answerAndClose(socket: Socket, { status, headers, body }: HttpResponse): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const bytes = body === undefined ? Buffer.alloc(0) : wholeOf(body);
  const all = { ...headers, 'content-length': String(bytes.length), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`), bytes]),
  );
}

function unreadable(api: PublisherApi, { code, rawPacket }: ConnectionError): HttpResponse {
  // Node does not report whether the address or a header was too long: a first line without an end was the address.
  const start = (rawPacket as unknown as Buffer | undefined)?.subarray(0, maxAddressBytes).toString('latin1') ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ [^\r\n]*$/.test(start)) return api.error(undefined, tooLong());
  const status = statuses.get(code) ?? 400;
  return {
    ...api.error(undefined, new ApiError('unreadable_request', 'this is not a request that can be read')),
    status,
  };
}
