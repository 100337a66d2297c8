import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import pLimit from 'p-limit';
import { wholeOf } from '../http/response.ts';
import type { Answer, Body } from '../http/response.ts';
import { chooseCoding } from '../http/content-coding.ts';
import type { ContentCoding } from '../http/content-coding.ts';

/** How hard each coding tries. */
interface Effort {
  br: number;
  gzip: number;
}

/** Quality 5 of Brotli costs about what gzip does and is a fifth shorter; the best ones take a hundred times as long. */
const forKept: Effort = { br: 5, gzip: constants.Z_DEFAULT_COMPRESSION };
/** For one request alone: a sixth of the time, an eighth longer. */
const forOnce: Effort = { br: 1, gzip: 1 };
/** So many at a time: each has its page as a whole, and anybody can ask for them. */
const once = pLimit(2);

const compress: Record<Exclude<ContentCoding, 'identity'>, (body: Buffer, effort: Effort) => Promise<Buffer>> = {
  br: (body, effort) =>
    promisify(brotliCompress)(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: effort.br,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      },
    }),
  gzip: (body, effort) => promisify(gzip)(body, { level: effort.gzip }),
};

/** A page's bytes, and the text that stands for exactly these bytes in entity tags. */
export interface PageBody<Bytes extends Body = Buffer> {
  bytes: Bytes;
  tag: string;
  /** Where the bytes are lent: to be called when nobody needs them any more. */
  release?: () => void;
}

interface Form {
  whole: Answer | Promise<Answer> | undefined;
  notModified: Answer;
  etag: string;
}

/**
 * The answer to all requests for one page. Each compressed form is made when it is first asked for, off the main
 * thread, and then kept. Every form has a tag of its own, as strong tags promise the same bytes.
 */
export class PreparedPage {
  /** Of a body that is lent. */
  readonly release: (() => void) | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #body: Body;
  readonly #grown: () => void;
  readonly #tag: string;
  readonly #forms: Partial<Record<ContentCoding, Form>> = {};
  #bytes: number;

  /** `grown` is called when a compressed form was added. */
  constructor(
    headers: Readonly<Record<string, string>>,
    { bytes, tag, release }: PageBody<Body>,
    grown: () => void = () => undefined,
  ) {
    this.release = release;
    this.#headers = headers;
    this.#body = bytes;
    this.#grown = grown;
    this.#tag = tag;
    this.#bytes = bytes.length;
  }

  /** Of all its forms so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What a request with these headers gets: the page in the form that it asks for, or a 304 where it has that already. */
  answer(request: IncomingHttpHeaders): Answer | Promise<Answer> {
    const coding = chooseCoding(request['accept-encoding'], this.#body.length);
    const form = this.#formOf(coding);
    if (isAmong(request['if-none-match'], form.etag)) return form.notModified;
    return (form.whole ??= this.#compressed(coding, form));
  }

  #formOf(coding: ContentCoding): Form {
    const known = this.#forms[coding];
    if (known !== undefined) return known;
    const etag = coding === 'identity' ? `"${this.#tag}"` : `"${this.#tag}-${coding}"`;
    const headers = { ...this.#headers, etag };
    const form: Form = { etag, notModified: { status: 304, headers, body: undefined }, whole: undefined };
    if (coding === 'identity') form.whole = { status: 200, headers, body: this.#body };
    this.#forms[coding] = form;
    return form;
  }

  /** Requests that come while it is made wait for the same one. */
  async #compressed(coding: ContentCoding, form: Form): Promise<Answer> {
    try {
      const body = coding === 'identity' ? this.#body : await compressed(coding, this.#body);
      form.whole = { status: 200, headers: { ...form.notModified.headers, 'content-encoding': coding }, body };
      this.#bytes += body.length;
      this.#grown();
      return form.whole;
    } catch (error) {
      form.whole = undefined;
      throw error;
    }
  }
}

function compressed(coding: Exclude<ContentCoding, 'identity'>, body: Body): Promise<Buffer> {
  return 'pieces' in body ? once(() => compress[coding](wholeOf(body), forOnce)) : compress[coding](body, forKept);
}

/** Stands for this content: a digest of 160 bits. */
export function entityTag(content: Buffer | string): string {
  return hash('sha256', content, 'base64url').slice(0, 27);
}

/** A page of bytes that were not put together by ourselves. */
export function pageBody(bytes: Buffer): PageBody {
  return { bytes, tag: entityTag(bytes) };
}

/** Whether an `If-None-Match` names a tag. Tags are compared without the `W/` that proxies put before them. */
function isAmong(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  if (condition.trim() === '*') return true;
  return [...condition.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}
