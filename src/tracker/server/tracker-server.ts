import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { metricsContentType } from '../../kit/metrics/metrics.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { refuseUnreadable } from '../../kit/http/unreadable-request.ts';
import type { ClientAddresses } from '../../kit/http/client-address.ts';
import { percentDecoded } from '../../kit/text/percent-encoded.ts';
import type { ClickAnswer } from '../clicks/click-answer.ts';
import type { ClickHandler } from '../clicks/click-handler.ts';
import type { ConversionAnswer } from '../conversions/conversion-answer.ts';
import type { ConversionRequest } from '../conversions/guard/conversion-request.ts';
import { maxReplayBytes } from '../conversions/refused-conversions.ts';
import { readBody } from './read-body.ts';
import { refusalPage } from './refusal-page.ts';
import type { TrackerMetrics } from './tracker-metrics.ts';

export interface TrackerServerParts {
  clicks: Pick<ClickHandler, 'answer'>;
  conversions: {
    receive(request: ConversionRequest): Promise<ConversionAnswer>;
    isReplay(headers: IncomingHttpHeaders): boolean;
  };
  addressOf: ClientAddresses;
  metrics: TrackerMetrics;
  /** The reason why the tracker cannot do its work now; undefined where it can. */
  unready(): Promise<string | undefined>;
  log: Logger;
}

/** Bounds the time in which a request is sent; links have a line and some headers. Milliseconds. */
const requestTimeout = 15_000;
const keepAliveTimeout = 72_000;
/** Bounds the request line and all headers together. Bytes. */
const maxHeaderSize = 16 * 1024;
/** Bounds a reported conversion. Bytes. */
const maxBody = 16 * 1024;
/** Time between two looks for requests that overran their time. Milliseconds. */
const connectionsCheckingInterval = 5_000;

/**
 * Headers of all answers to links: nothing may keep them, and the next page does not learn where the user came from.
 */
const forLinks = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' };

/** Makes the tracker's listener: Node's own server without a framework, since a click is answered in microseconds. */
export function createTrackerServer(parts: TrackerServerParts): Server {
  const answerAny = (request: IncomingMessage, response: ServerResponse) => {
    // A client that is never idle would be served until its connection is cut, and lose an answer.
    if (!server.listening) response.shouldKeepAlive = false;
    const url = pathAndQuery(request);
    const answered = url.startsWith('/redirect/')
      ? answerClick(parts, request, response, url)
      : answer(parts, request, response, url);
    answered.catch((error: unknown) => {
      // Not the query, which may hold a secret.
      const about = { method: request.method, path: url.split('?', 1)[0] };
      parts.log.error({ ...about, err: error }, 'a request failed: it is answered 500, or cut off within its answer');
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'text/plain; charset=utf-8', 'something went wrong\n');
    });
  };
  const server = createServer(
    {
      maxHeaderSize,
      headersTimeout: requestTimeout,
      requestTimeout,
      keepAliveTimeout,
      connectionsCheckingInterval,
      // Links are answered under any Host.
      requireHostHeader: false,
      shouldUpgradeCallback: () => false,
    },
    answerAny,
  );
  // Requests with an unknown expectation, too long ones and broken ones: Node's own answers lack the headers.
  server.on('checkExpectation', answerAny);
  server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket) => {
    countUnreadable(error.rawPacket, parts.metrics);
    refuseUnreadable(error, socket, forLinks);
  });
  return server;
}

/** Counts what was to be a link or a report by how it begins. No more of it is looked at: it may hold a secret. */
function countUnreadable(received: Buffer | undefined, metrics: TrackerMetrics): void {
  const [, kind] = /^[A-Z]+ \/(redirect|postback)\//.exec(received?.toString('latin1', 0, 20) ?? '') ?? [];
  if (kind === 'redirect') metrics.countClick('unreadable');
  if (kind === 'postback') metrics.countPostback(undefined, 'unreadable');
}

/** Drops scheme and host, which clients send that take the tracker for a proxy. */
function pathAndQuery({ url = '' }: IncomingMessage): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
}

/** Handles every request that is not a redirect link. */
async function answer(
  parts: TrackerServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: string,
): Promise<void> {
  if (url.startsWith('/postback/')) return answerPostback(parts, request, response, url);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  switch (isRead ? (url.split('?', 1)[0] ?? '') : '') {
    case '/healthz':
      return sendJson(response, 200, { status: 'ok' });
    case '/readyz': {
      const reason = await parts.unready();
      return reason === undefined
        ? sendJson(response, 200, { status: 'ready' })
        : sendJson(response, 503, { status: 'unavailable', reason });
    }
    case '/metrics':
      return sendText(response, 200, metricsContentType, await parts.metrics.text());
    default:
      return sendJson(response, 404, { error: 'not_found', message: 'there is no such page' });
  }
}

async function answerClick(
  { clicks, addressOf, metrics }: TrackerServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: string,
): Promise<void> {
  const { method = '', headers } = request;
  const clicked = await clicks.answer({ method, url, headers, address: addressFor(addressOf, request) });
  metrics.countClick(clicked.outcome);
  if (clicked.location !== undefined)
    response.writeHead(302, { location: clicked.location, 'content-length': 0, ...forLinks }).end();
  else sendRefusal(response, clicked, method, headers.accept);
}

function sendRefusal(response: ServerResponse, refused: ClickAnswer, method: string, accept: string | undefined): void {
  for (const [name, value] of Object.entries(forLinks)) response.setHeader(name, value);
  if (refused.retryAfter !== undefined) response.setHeader('retry-after', refused.retryAfter);
  if (refused.allow !== undefined) response.setHeader('allow', refused.allow);
  if (refused.status === 204) return void response.writeHead(204).end();
  const { body, contentType } = refusalPage(refused, accept);
  response.setHeader('content-type', contentType);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.setHeader('vary', 'Accept');
  response.writeHead(refused.status).end(method === 'HEAD' ? undefined : body);
}

async function answerPostback(
  { conversions, addressOf, metrics }: TrackerServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  url: string,
): Promise<void> {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'POST') {
    response.setHeader('allow', 'GET, POST');
    return sendJson(response, 405, { error: 'wrong_method', message: 'conversions are reported by GET or POST' });
  }
  const question = url.indexOf('?');
  const source = sourceOf(question === -1 ? url : url.slice(0, question));
  if (source === undefined) return sendJson(response, 404, { error: 'not_found', message: 'there is no such page' });
  let body: Buffer | undefined = Buffer.alloc(0);
  const maxBytes = conversions.isReplay(headers) ? maxReplayBytes : maxBody;
  if (method === 'POST') {
    try {
      body = await readBody(request, maxBytes);
    } catch {
      // The sender is gone.
      response.destroy();
      return;
    }
  }
  if (body === undefined) {
    response.setHeader('connection', 'close');
    return sendJson(response, 413, { error: 'too_large', message: `at most ${maxBytes} bytes` });
  }
  const address = addressFor(addressOf, request);
  const query = question === -1 ? '' : url.slice(question + 1);
  const reported = await conversions.receive({ source, method, query, headers, body, address });
  metrics.countPostback(reported.source, reported.outcome);
  for (const [name, value] of Object.entries(reported.headers)) response.setHeader(name, value);
  sendText(response, reported.status, reported.contentType, reported.body);
}

/** The one part of the path behind `/postback/`; undefined where there are more, or it cannot be decoded. */
function sourceOf(path: string): string | undefined {
  const part = path.slice('/postback/'.length);
  return part === '' || part.includes('/') ? undefined : percentDecoded(part);
}

function addressFor(addressOf: ClientAddresses, request: IncomingMessage): string {
  const forwarded = request.headers['x-forwarded-for'];
  return addressOf(request.socket.remoteAddress, Array.isArray(forwarded) ? forwarded.join(',') : forwarded);
}

function sendJson(response: ServerResponse, status: number, document: unknown): void {
  sendText(response, status, 'application/json; charset=utf-8', `${JSON.stringify(document)}\n`);
}

function sendText(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('content-type', contentType);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
}
