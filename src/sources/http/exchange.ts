import { gunzipSync, brotliDecompressSync, inflateSync } from 'node:zlib';
import { Agent, request, type Dispatcher } from 'undici';
import { ExchangeError } from './exchange-error.ts';

/** One request, with the secrets filled in. */
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

/** A page of an API may have so many bytes, packed and unpacked. */
export const maxPageBytes = 64 * 1024 * 1024;
const connectMilliseconds = 10_000;
/** A whole exchange, dripping bodies included. */
const exchangeMilliseconds = 120_000;

/** Connections of one pull. */
export class HttpExchanges {
  readonly #agent = new Agent({
    connect: { timeout: connectMilliseconds },
    headersTimeout: exchangeMilliseconds,
    bodyTimeout: exchangeMilliseconds,
  });

  /**
   * Sends once and reads the whole answer; follows nothing. Throws `ExchangeError` where no whole answer came, and the
   * signal's reason once that is aborted.
   */
  async send({ method, url, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const deadline = AbortSignal.timeout(exchangeMilliseconds);
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        method,
        headers: { accept: 'application/json, */*;q=0.5', 'accept-encoding': 'gzip, deflate, br', ...headers },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.any([signal, deadline]),
      });
      const packed = await readBody(response.body);
      const answered = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
      );
      return { status: response.statusCode, headers: answered, body: unpack(packed, answered['content-encoding']) };
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

async function readBody(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxPageBytes) throw new ExchangeError(`an answer of more than ${maxPageBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unpack(packed: Buffer, encoding: string | undefined): Buffer {
  const options = { maxOutputLength: maxPageBytes };
  try {
    if (encoding === 'gzip' || encoding === 'x-gzip') return gunzipSync(packed, options);
    if (encoding === 'br') return brotliDecompressSync(packed, options);
    if (encoding === 'deflate') return inflateSync(packed, options);
    return packed;
  } catch (error) {
    throw new ExchangeError(`an answer whose ${encoding} is cut off, broken or too large`, { cause: error });
  }
}

/** Such as `ECONNREFUSED`. The message of a failed connection may name an address with its query. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return `no answer: ${code ?? name ?? 'unknown'}`;
}
