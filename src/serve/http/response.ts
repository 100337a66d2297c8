import type { IncomingHttpHeaders } from 'node:http';
import { cacheControl } from './caching.ts';
import type { ApiError } from '../../kit/http/errors.ts';
import type { Variant } from './variant.ts';

/**
 * A body that is put together piece by piece while its client takes it, out of bytes that others may be reading too.
 */
export interface PiecedBody {
  readonly length: number;
  readonly source: Buffer;
  whole(): Buffer;
  /** Parts, each valid until the next is asked for. */
  pieces(): Iterable<Buffer>;
}

/** Size of a piece; one at a time waits beside the bytes that it is made of. */
export const pieceBytes = 32 * 1024;

export type Body = Buffer | PiecedBody;

export function wholeOf(body: Body): Buffer {
  return 'whole' in body ? body.whole() : body;
}

/** A whole HTTP response, ready to send. Responses may be kept and sent many times, so nothing changes them. */
export interface HttpResponse {
  readonly status: number;
  /** `Cache-Control` among them, always. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where there is none, as for a 304. */
  readonly body: Body | undefined;
  /**
   * Sent in its place where much waits for slow clients already. Without one it is an error, and that where far more
   * waits.
   */
  readonly instead?: HttpResponse;
}

/** Responses that need nothing of a request but its headers and whom it comes from, by path on the bare host. */
export type FixedRoutes = ReadonlyMap<string, FixedRoute>;

export type FixedRoute = (
  request: IncomingHttpHeaders,
  remoteAddress: string | undefined,
) => HttpResponse | Promise<HttpResponse>;

/** Identity of the snapshot that a response was made from. */
export interface SnapshotIdentity {
  readonly id: string;
  readonly asOf: string;
}

const everyResponse = {
  'content-type': 'application/json; charset=utf-8',
  // Credentials are in the query string: no link in a page that shows an answer may hand them on.
  'referrer-policy': 'no-referrer',
  // Errors too, so that a cache knows it of every address.
  vary: 'Accept-Encoding',
};

/** Headers of every response made from a snapshot. */
export function snapshotHeaders(
  snapshot: SnapshotIdentity | undefined,
  variant?: Variant,
): Readonly<Record<string, string>> {
  return {
    ...everyResponse,
    ...(snapshot && { 'x-snapshot-id': snapshot.id, 'x-data-as-of': snapshot.asOf }),
    ...variant?.headers,
  };
}

/** A response that describes this moment, so nobody may keep it. */
export function noStoreResponse(
  status: number,
  document: object,
  snapshot: SnapshotIdentity | undefined,
  variant?: Variant,
): HttpResponse {
  return {
    status,
    headers: { ...snapshotHeaders(snapshot, variant), 'cache-control': cacheControl.noStore },
    body: Buffer.from(JSON.stringify(document)),
  };
}

/** The same response with more headers. */
export function withHeaders(response: HttpResponse, headers: Readonly<Record<string, string>>): HttpResponse {
  return { ...response, headers: { ...response.headers, ...headers } };
}

/** An error in the variant's own form. */
export function errorResponse(error: ApiError, variant: Variant, snapshot: SnapshotIdentity | undefined): HttpResponse {
  const { status, document } = variant.describe(error);
  return noStoreResponse(status, document, snapshot, variant);
}
