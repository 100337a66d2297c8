import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

/** A page of a thousand keys of a thousand encoded characters has 3.5 MB and 30,000 tags and attributes. */
const maxMebibytes = 8;
const maxMarks = 200_000;
const maxDepth = 64;

const [open, close, slash, equals, bang, question] = Buffer.from('<>/=!?');

/** An answer that is too large to be parsed: XML takes many times its text in memory. */
export class OverlongAnswerError extends Error {}

/**
 * Bounds the answers that a client of S3 reads, before its own parser takes them whole. Bytes of objects, which nobody
 * parses, are not bounded. Requests fail with `OverlongAnswerError`.
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
    // Next to the connection, before everything else that reads the answer.
    { name: 'boundAnswers', step: 'deserialize', priority: 'low' },
  );
}

/** Reads a body. Throws `OverlongAnswerError` as soon as it exceeds a bound. */
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

/** Bounds of XML, checked chunk by chunk on its bytes only. */
class XmlBounds {
  /** The bound that is exceeded; undefined while none is. */
  excess: string | undefined;
  #bytes = 0;
  /** Tags and attributes. */
  #marks = 0;
  #depth = 0;
  #before: number | undefined;

  see(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > maxMebibytes * 2 ** 20) this.excess = `more than ${maxMebibytes} MiB`;
    for (let at = 0; at < chunk.length && this.excess === undefined; at++) {
      const byte = chunk[at] as number;
      if (byte === open || byte === equals) this.#marks++;
      if (this.#before === open && byte !== bang && byte !== question) this.#depth += byte === slash ? -1 : 1;
      if (this.#before === slash && byte === close) this.#depth--;
      this.#before = byte;
      if (this.#depth > maxDepth) this.excess = `more than ${maxDepth} nested elements`;
      if (this.#marks > maxMarks) this.excess = `more than ${maxMarks} tags and attributes`;
    }
  }
}
