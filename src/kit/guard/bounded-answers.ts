import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

/** A page of a thousand keys of a thousand characters, each of them encoded, is 3.5 MB and has 30,000 marks. */
const mostMebibytes = 8;
const mostMarks = 200_000;
const deepest = 64;

const [open, close, slash, equals, bang, question] = Buffer.from('<>/=!?');

/** An answer of a store that is not parsed: what its XML takes in memory is many times its text. */
export class OverlongAnswerError extends Error {}

/**
 * Has a client of S3 read an answer up to a bound, before its own parser takes it whole. The bytes of objects, which
 * nobody parses, are left to those who asked for them. Requests are refused by `OverlongAnswerError`.
 */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        const result = await next(request);
        const response = result.response as { statusCode: number; body?: unknown };
        const isObject = commandName === 'GetObjectCommand' && response.statusCode < 300;
        if (!isObject && response.body instanceof Readable)
          response.body = Readable.from([await boundedBytes(response.body)]);
        return result;
      },
    // Next to the connection: whatever else reads the answer comes after it.
    { name: 'boundAnswers', step: 'deserialize', priority: 'low' },
  );
}

/** Throws `OverlongAnswerError` as soon as it is too much. */
async function boundedBytes(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const bounds = new XmlBounds();
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bounds.see(chunk);
    if (bounds.excess !== undefined) throw new OverlongAnswerError(`the answer has ${bounds.excess}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Looks at XML as it comes, chunk by chunk, and says what makes it too much to be parsed. Looks at bytes only. */
export class XmlBounds {
  /** Undefined as long as nothing is too much. */
  excess: string | undefined;
  #bytes = 0;
  /** Of tags and attributes. */
  #marks = 0;
  #depth = 0;
  #before: number | undefined;

  see(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > mostMebibytes * 2 ** 20) this.excess = `more than ${mostMebibytes} MiB`;
    for (let at = 0; at < chunk.length && this.excess === undefined; at++) {
      const byte = chunk[at] as number;
      if (byte === open || byte === equals) this.#marks++;
      if (this.#before === open && byte !== bang && byte !== question) this.#depth += byte === slash ? -1 : 1;
      if (this.#before === slash && byte === close) this.#depth--;
      this.#before = byte;
      if (this.#depth > deepest) this.excess = `more than ${deepest} elements within one another`;
      if (this.#marks > mostMarks) this.excess = `more than ${mostMarks} marks of XML`;
    }
  }
}
