import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface StoredObject {
  bytes: Buffer;
  etag: string;
  modified: Date;
  storageClass: string;
}

/** What the bucket was asked for. */
export interface BucketRequest {
  kind: 'list' | 'get' | 'put' | 'delete';
  /** Decoded; empty for a list. */
  key: string;
  range: string | undefined;
  ifMatch: string | undefined;
  authorization: string;
}

/** What is done instead of a good answer. */
export type BucketFault =
  | { status: number; code: string; message?: string; retryAfter?: string }
  /** The bytes up to there, and then the connection cut. */
  | { cutAfter: number }
  /** Fewer bytes, as if they were all. */
  | { shortBy: number }
  /** The answer that a store gives which knows no `If-Match`. */
  | { unconditional: true }
  /** One bit of the body another than its checksum says. */
  | { flippedBit: true };

/**
 * A server on loopback that speaks as much of S3 as pulls and writers ask for: lists, conditional and partial reads,
 * conditional writes, copies.
 */
export class SmallBucket {
  readonly name = 'logs';
  readonly requests: BucketRequest[] = [];
  /** Asked before each answer. */
  fault: (request: BucketRequest) => BucketFault | undefined = () => undefined;
  /** Milliseconds by which the `Date` of its answers is ahead of the real clock; undefined for answers without one. */
  dateAhead: number | undefined = 0;
  readonly #objects = new Map<string, StoredObject>();
  readonly #server: Server;
  #keys: string[] | undefined;

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<SmallBucket> {
    const bucket = new SmallBucket();
    await new Promise<void>((resolve) => bucket.#server.listen(0, '127.0.0.1', resolve));
    return bucket;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  put(
    key: string,
    content: string | Buffer,
    { modified = '2026-11-18T10:00:00Z', storageClass = 'STANDARD' }: { modified?: string; storageClass?: string } = {},
  ): void {
    const bytes = Buffer.from(content);
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
    this.#objects.set(key, { bytes, etag, modified: new Date(modified), storageClass });
    this.#keys = undefined;
  }

  /** As new. */
  clear(): void {
    this.#objects.clear();
    this.#keys = undefined;
    this.requests.length = 0;
    this.fault = () => undefined;
    this.dateAhead = 0;
  }

  remove(key: string): void {
    this.#objects.delete(key);
    this.#keys = undefined;
  }

  /** Requests for objects since the last call. */
  takeReads(): BucketRequest[] {
    return this.requests.splice(0).filter(({ kind }) => kind === 'get');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    const key = decodeURIComponent(pathname.slice(`/${this.name}/`.length));
    response.sendDate = false;
    if (this.dateAhead !== undefined) response.setHeader('date', new Date(Date.now() + this.dateAhead).toUTCString());
    const asked: BucketRequest = {
      kind: key === '' ? 'list' : request.method === 'PUT' ? 'put' : request.method === 'DELETE' ? 'delete' : 'get',
      key,
      range: request.headers.range,
      ifMatch: request.headers['if-match'],
      authorization: request.headers.authorization ?? '',
    };
    this.requests.push(asked);
    const fault = this.fault(asked);
    if (fault !== undefined && 'status' in fault) return refuse(response, fault);
    if (!pathname.startsWith(`/${this.name}`))
      return refuse(response, { status: 404, code: 'NoSuchBucket', message: 'The specified bucket does not exist' });
    if (asked.kind === 'list') return this.#list(searchParams, response);
    if (asked.kind === 'put') return void this.#put(asked, request, response);
    if (asked.kind === 'delete') {
      this.remove(key);
      return void response.writeHead(204).end();
    }
    const known = this.#objects.get(key)?.etag;
    if (known !== undefined && request.headers['if-none-match'] === known)
      return void response.writeHead(304, { etag: known }).end();
    return this.#get(asked, fault, response);
  }

  async #put({ key, ifMatch }: BucketRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const before = this.#objects.get(key);
    const source = request.headers['x-amz-copy-source']?.toString();
    if (source !== undefined) return this.#copy(decodeURIComponent(source).replace(`${this.name}/`, ''), key, response);
    const isRefused =
      (ifMatch !== undefined && ifMatch !== before?.etag) ||
      (request.headers['if-none-match'] === '*' && before !== undefined);
    if (isRefused) return refuse(response, { status: 412, code: 'PreconditionFailed' });
    this.put(key, Buffer.concat(chunks), { modified: new Date().toISOString() });
    response.writeHead(200, { etag: this.#objects.get(key)?.etag }).end();
  }

  #copy(from: string, to: string, response: ServerResponse): void {
    const copied = this.#objects.get(from);
    if (copied === undefined) return refuse(response, { status: 404, code: 'NoSuchKey' });
    this.put(to, copied.bytes, { modified: new Date().toISOString() });
    response.setHeader('content-type', 'application/xml');
    response.end(`<CopyObjectResult><ETag>${copied.etag.replaceAll('"', '&quot;')}</ETag></CopyObjectResult>`);
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    this.#keys ??= [...this.#objects.keys()].toSorted((one, other) =>
      Buffer.compare(Buffer.from(one), Buffer.from(other)),
    );
    const prefix = query.get('prefix') ?? '';
    const keys = this.#keys.filter((key) => key.startsWith(prefix));
    const from = Number(query.get('continuation-token') ?? 0);
    const to = Math.min(keys.length, from + Number(query.get('max-keys') ?? 1000));
    const contents = keys.slice(from, to).map((key) => {
      const { bytes, etag, modified, storageClass } = this.#objects.get(key) as StoredObject;
      return `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>${etag.replaceAll('"', '&quot;')}</ETag><Size>${bytes.length}</Size><StorageClass>${storageClass}</StorageClass></Contents>`;
    });
    const more = to < keys.length;
    response.setHeader('content-type', 'application/xml');
    response.end(
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>${this.name}</Name><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${more ? `<NextContinuationToken>${to}</NextContinuationToken>` : ''}${contents.join('')}</ListBucketResult>`,
    );
  }

  #get({ key, range, ifMatch }: BucketRequest, fault: BucketFault | undefined, response: ServerResponse): void {
    const object = this.#objects.get(key);
    if (object === undefined) return refuse(response, { status: 404, code: 'NoSuchKey' });
    if (ifMatch !== undefined && ifMatch !== object.etag && !(fault !== undefined && 'unconditional' in fault))
      return refuse(response, { status: 412, code: 'PreconditionFailed' });
    const asked = /^bytes=(\d+)-(\d+)$/.exec(range ?? '');
    const [from, to] = asked === null ? [0, object.bytes.length] : [Number(asked[1]), Number(asked[2]) + 1];
    response.statusCode = asked === null ? 200 : 206;
    response.setHeader('etag', object.etag);
    const missing = fault !== undefined && 'shortBy' in fault ? fault.shortBy : 0;
    if (missing === 0) response.setHeader('content-length', to - from);
    if (asked !== null) response.setHeader('content-range', `bytes ${from}-${to - 1}/${object.bytes.length}`);
    const body = Buffer.from(object.bytes.subarray(from, to));
    if (asked === null && missing === 0)
      response.setHeader('x-amz-checksum-sha256', createHash('sha256').update(body).digest('base64'));
    if (fault !== undefined && 'flippedBit' in fault) body[0] = (body[0] ?? 0) ^ 1;
    if (fault !== undefined && 'cutAfter' in fault)
      response.write(body.subarray(0, fault.cutAfter), () => response.destroy());
    else response.end(body.subarray(0, body.length - missing));
  }
}

function refuse(
  response: ServerResponse,
  { status, code, message = code, retryAfter }: Extract<BucketFault, { status: number }>,
): void {
  response.statusCode = status;
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  response.setHeader('content-type', 'application/xml');
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
  );
}
