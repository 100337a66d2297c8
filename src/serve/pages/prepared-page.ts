import { entityTag, isAmong } from '../../kit/http/entity-tag.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip as gzipCompress } from 'node:zlib';
import pLimit from 'p-limit';
import { wholeOf } from '../http/response.ts';
import type { Body, HttpResponse } from '../http/response.ts';

/** Effort of each coding. */
interface Effort {
  br: number;
  gzip: number;
}

/**
 * Quality 5 of Brotli costs about what gzip does and is a fifth shorter; the best ones take a hundred times as long.
 */
const forKept: Effort = { br: 5, gzip: constants.Z_DEFAULT_COMPRESSION };
/** For one request alone: a sixth of the time, an eighth longer. */
const forOnce: Effort = { br: 1, gzip: 1 };
/** Limit of how many run at a time: each has its page as a whole, and anybody can ask for them. */
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
  gzip: (body, effort) => promisify(gzipCompress)(body, { level: effort.gzip }),
};

/** A page's bytes, and the text that names exactly these bytes in entity tags. */
export interface PageBody<Bytes extends Body = Buffer> {
  bytes: Bytes;
  tag: string;
}

/** Form of a page: plain, or compressed. */
interface Form {
  etag: string;
  whole: HttpResponse | Promise<HttpResponse> | undefined;
  notModified: HttpResponse;
}

/**
 * The response to all requests for one page. Each compressed form is made when it is first asked for, off the main
 * thread, and then kept. Every form has a tag of its own, as strong tags promise the same bytes.
 */
export class PreparedPage {
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #body: Body;
  readonly #grown: (page: PreparedPage) => void;
  readonly #tag: string;
  readonly #forms: Partial<Record<ContentCoding, Form>> = {};
  #bytes: number;

  /** `grown` is called when a compressed form was added. */
  constructor(
    headers: Readonly<Record<string, string>>,
    { bytes, tag }: PageBody<Body>,
    { madeAt = 0, grown = () => undefined }: { madeAt?: number; grown?: (page: PreparedPage) => void } = {},
  ) {
    this.madeAt = madeAt;
    this.#headers = headers;
    this.#body = bytes;
    this.#grown = grown;
    this.#tag = tag;
    this.#bytes = bytes.length;
  }

  /** Bytes of all its forms so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Answer to a request with these headers: the page in the form that it asks for, or a 304 where it has that already.
   */
  respond(request: IncomingHttpHeaders): HttpResponse | Promise<HttpResponse> {
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
  async #compressed(coding: ContentCoding, form: Form): Promise<HttpResponse> {
    try {
      const body = coding === 'identity' ? this.#body : await compressed(coding, this.#body);
      form.whole = { status: 200, headers: { ...form.notModified.headers, 'content-encoding': coding }, body };
      this.#bytes += body.length;
      this.#grown(this);
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

/** A page of these bytes. */
export function pageBody(bytes: Buffer): PageBody {
  return { bytes, tag: entityTag(bytes) };
}

/** The forms in which a body can leave; `identity` is the plain body. */
type ContentCoding = 'br' | 'gzip' | 'identity';

/** A smaller body leaves uncompressed where the client takes that: it fills one packet either way. Bytes. */
const minCodedBytes = 1024;

/** Acceptable without being named, but wanted least. */
const unnamed = 0.0001;

const member = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

/**
 * The form that an `Accept-Encoding` asks for most, the shorter one among equals (RFC 9110, 12.5.3).
 * A header that refuses everything is disregarded, as the standard allows.
 */
function chooseCoding(accepted: string | undefined, bytes: number): ContentCoding {
  if (accepted === undefined) return 'identity';
  const weights = weightsOf(accepted);
  const others = weights.get('*');
  const identity = weights.get('identity') ?? others ?? unnamed;
  if (bytes < minCodedBytes && identity > 0) return 'identity';
  const br = weights.get('br') ?? others ?? 0;
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? others ?? 0;
  const most = Math.max(br, gzip, identity);
  if (most === 0 || identity > Math.max(br, gzip)) return 'identity';
  return br === most ? 'br' : 'gzip';
}

/** Reads weights; a part that cannot be read is left out, as if it had not been sent. */
function weightsOf(accepted: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.split(',')) {
    const [, coding, weight = '1'] = member.exec(part) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight));
  }
  return weights;
}
