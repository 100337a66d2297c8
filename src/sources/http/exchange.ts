import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Agent, request, type Dispatcher } from 'undici';
import { ExchangeError, TooMuchError } from './exchange-error.ts';

/** A request with its secrets. */
export interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: string | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
}

/** Size of a page, packed and unpacked. */
const maxPageBytes = 64 * 1024 * 1024;
const connectMilliseconds = 10_000;
/** Limit of a whole exchange, slow bodies included. */
const exchangeMilliseconds = 120_000;

/** Connections of one pull. */
export class HttpExchanges {
  readonly #agent = new Agent({
    connect: { timeout: connectMilliseconds },
    headersTimeout: exchangeMilliseconds,
    bodyTimeout: exchangeMilliseconds,
  });

  /**
   * Sends a request once and reads the whole answer; follows no redirect. Throws `ExchangeError` without a complete
   * answer, and the signal's reason after it is aborted.
   */
  async send({ method, url, headers, body: sent }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const deadline = AbortSignal.timeout(exchangeMilliseconds);
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        method,
        headers: { accept: 'application/json, */*;q=0.5', 'accept-encoding': 'gzip, deflate, br', ...headers },
        ...(sent === undefined ? {} : { body: sent }),
        signal: AbortSignal.any([signal, deadline]),
      });
      const answered = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, headerText(name, value)]),
      );
      const { statusCode: status } = response;
      const body = await readBody(response.body, answered['content-encoding']).catch((error: unknown) => {
        // The status says what is wrong; the body would only say more of it.
        if (error instanceof PackingError && status >= 300) return Buffer.alloc(0);
        throw error;
      });
      return { status, headers: answered, body };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ExchangeError) throw error;
      if (deadline.aborted) throw new ExchangeError(`no whole answer within ${exchangeMilliseconds / 1000} s`);
      throw new ExchangeError(codeOf(error), { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** The first of several headers of a name, but for links: each is one of a list. */
function headerText(name: string, value: string | string[] | undefined): string | undefined {
  if (!Array.isArray(value)) return value;
  return name === 'link' ? value.join(', ') : value[0];
}

/** A body that cannot be unpacked. */
class PackingError extends ExchangeError {}

/** Reads, unpacks and bounds a body chunk by chunk, so that no more than the bound is in memory. */
async function readBody(body: Dispatcher.ResponseData['body'], encoding: string | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > maxPageBytes) throw new TooMuchError(`an answer of more than ${maxPageBytes} bytes`);
      chunks.push(chunk);
    }
  };
  const coding = encoding?.trim().toLowerCase() ?? '';
  if (!codings.has(coding)) {
    body.on('error', () => undefined).destroy();
    // Not quoted: a secret in it is in lower case by now, and nothing would find it.
    throw new PackingError('an answer packed in a way that was not asked for: gzip, deflate and br are');
  }
  const packed: AsyncIterableIterator<Buffer> = body.iterator();
  const first = await packed.next();
  // An empty body is empty in every coding; unpackers take it for one that is cut off.
  if (first.done === true) return Buffer.alloc(0);
  const source = async function* () {
    try {
      yield first.value;
      yield* packed;
    } finally {
      body.on('error', () => undefined).destroy();
    }
  };
  const unpacking = codings.get(coding)?.(first.value);
  if (unpacking === undefined) await pipeline(source, take);
  else
    await pipeline(source, unpacking, take).catch((error: NodeJS.ErrnoException) => {
      if (!isOfUnpacking(error)) throw error;
      throw new PackingError(`an answer whose ${coding} is cut off or broken`, { cause: error });
    });
  return Buffer.concat(chunks);
}

/** What unpacks each coding that is asked for, by the first bytes; undefined where nothing is packed. */
const codings = new Map<string, (first: Buffer) => Transform | undefined>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['deflate', (first) => (hasZlibHeader(first) ? createInflate() : createInflateRaw())],
  ['', () => undefined],
  ['identity', () => undefined],
]);

/** `deflate` is zlib's format (RFC 9110); some servers, IIS among them, send its data without header and checksum. */
function hasZlibHeader([method = 0, flags]: Buffer): boolean {
  // The method is deflate, and the first two bytes are a multiple of 31 (RFC 1950).
  return (method & 0x0f) === 8 && (flags === undefined || ((method << 8) | flags) % 31 === 0);
}

/** True for errors of zlib and brotli, such as `ERR__ERROR_FORMAT_PADDING_2`. */
function isOfUnpacking({ code = '' }: NodeJS.ErrnoException): boolean {
  return code.startsWith('Z_') || code.startsWith('ERR__ERROR_');
}

/** Describes an error by its code, such as `ECONNREFUSED`: its message may contain the address with its query. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return `no answer: ${code ?? name ?? 'unknown'}`;
}
