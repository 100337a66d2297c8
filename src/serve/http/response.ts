import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from './errors.ts';
import type { Variant } from './variant.ts';

/** A body that is put together piece by piece while its client takes it, out of bytes that others may be reading too. */
export interface PiecedBody {
  readonly length: number;
  readonly source: Buffer;
  whole(): Buffer;
  /** Each is valid until the next is asked for. */
  pieces(): Iterable<Buffer>;
}

/** Of a body in pieces one at a time waits beside what it is made of. */
export const pieceBytes = 32 * 1024;

export type Body = Buffer | PiecedBody;

export function wholeOf(body: Body): Buffer {
  return 'whole' in body ? body.whole() : body;
}

/** A whole HTTP answer, ready to send. Answers may be kept and sent many times, so nothing changes them. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where there is none, as for a 304. */
  readonly body: Body | undefined;
  /** Of one request alone, beside those above. */
  readonly more?: Readonly<Record<string, string>>;
  /** Where the body's memory is lent: gives it back. */
  readonly release?: (() => void) | undefined;
  /** Whose form a refusal in its place has; default: that of the path. */
  readonly variant?: Variant;
}

/** Answers that need nothing of a request but its headers, by path on the bare host. */
export type FixedAnswers = ReadonlyMap<string, (request: IncomingHttpHeaders) => Answer | Promise<Answer>>;

/** What an answer says of the snapshot that it was made from. */
export interface SnapshotIdentity {
  readonly id: string;
  readonly asOf: string;
}

const everyAnswer = {
  'content-type': 'application/json; charset=utf-8',
  // Credentials are in the query string: no link in a page that shows an answer may hand them on.
  'referrer-policy': 'no-referrer',
  // Errors too, so that a cache knows it of every address.
  vary: 'Accept-Encoding',
};

/** What every answer made from a snapshot says of itself; made once per snapshot and variant. */
export function snapshotHeaders(
  snapshot: SnapshotIdentity | undefined,
  variant?: Variant,
): Readonly<Record<string, string>> {
  return {
    ...everyAnswer,
    ...(snapshot && { 'x-snapshot-id': snapshot.id, 'x-data-as-of': snapshot.asOf }),
    ...variant?.headers,
  };
}

/** An answer that describes this moment: it has no `Cache-Control` of its own, so nobody may keep it (see `caching.ts`). */
export function passingAnswer(
  status: number,
  document: object,
  snapshot: SnapshotIdentity | undefined,
  variant?: Variant,
): Answer {
  return {
    status,
    headers: snapshotHeaders(snapshot, variant),
    body: Buffer.from(JSON.stringify(document)),
  };
}

/** The same answer with more to say. */
export function withHeaders(answer: Answer, headers: Readonly<Record<string, string>>): Answer {
  return { ...answer, more: { ...answer.more, ...headers } };
}

/** A refusal in the variant's own form. */
export function refusalAnswer(refusal: Refusal, variant: Variant, snapshot: SnapshotIdentity | undefined): Answer {
  const { status, document } = variant.refuse(refusal);
  const answer = passingAnswer(status, document, snapshot, variant);
  return refusal.kind === 'wrong_method' ? withHeaders(answer, { allow: 'GET, HEAD' }) : answer;
}
