import { Agent, errors, request, type Dispatcher } from 'undici';
import { ConnectError, guardedConnector, type ConnectProblem, type GuardOptions } from '../kit/guard/address-guard.ts';
import type { MirroredCopy } from './picture-index.ts';
import { maxPictureBytes, pictureEnding, type PictureEnding } from './picture-type.ts';

/** Length of an ETag or a date; longer ones are dropped. */
const maxValidatorLength = 512;

const redirects = [301, 302, 303, 307, 308];

/** Reasons for a missing picture; `http_404` and the like name the status. */
type PictureProblem =
  ConnectProblem | 'bad_answer' | 'too_large' | 'packed' | 'not_a_picture' | 'bad_redirect' | `http_${number}`;

/** Outcome of one request. */
export type PictureAnswer =
  | { kind: 'picture'; bytes: Buffer; ending: PictureEnding; etag: string | null; lastModified: string | null }
  /** The validators still hold. */
  | { kind: 'unchanged' }
  | { kind: 'redirect'; to: URL }
  | { kind: 'problem'; problem: PictureProblem };

/** Validators of the copy that we have of the address. */
type KnownCopy = Pick<MirroredCopy, 'etag' | 'last_modified'>;

/** Connections of one pass, to public addresses only. */
export class PictureRequests {
  readonly #agent: Agent;

  constructor(guard: GuardOptions) {
    this.#agent = new Agent({ connect: guardedConnector(guard), allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  }

  /**
   * Sends one request and reads at most `maxPictureBytes`; follows no redirect. Throws nothing for what a server does,
   * and the signal's reason after it is aborted.
   */
  async ask(url: URL, known: KnownCopy | undefined, milliseconds: number, stop: AbortSignal): Promise<PictureAnswer> {
    const deadline = AbortSignal.timeout(Math.max(0, Math.ceil(milliseconds)));
    const signal = AbortSignal.any([stop, deadline]);
    try {
      const asked = request(url, { dispatcher: this.#agent, headers: headersFor(known), signal });
      const { statusCode, headers, body } = await unlessAborted(asked, signal);
      // A body that is destroyed before its end emits an error.
      body.on('error', () => undefined);
      try {
        return await readAnswer(statusCode, headers, body, url, known !== undefined);
      } finally {
        body.destroy();
      }
    } catch (error) {
      stop.throwIfAborted();
      return problem(deadline.aborted ? 'timeout' : problemOf(error));
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/**
 * Headers that prefer formats which every browser shows, since all clients get the same file, and no packing, so that
 * the counted bytes are the stored ones.
 */
function headersFor(known: KnownCopy | undefined): Record<string, string> {
  return {
    'user-agent': 'offerline',
    accept: 'image/png, image/jpeg, image/gif, image/webp;q=0.9, image/avif;q=0.5, */*;q=0.1',
    'accept-encoding': 'identity',
    ...(known?.etag ? { 'if-none-match': known.etag } : {}),
    ...(known?.last_modified ? { 'if-modified-since': known.last_modified } : {}),
  };
}

/** Rejects when the signal is aborted, since undici waits for a connection regardless. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function readAnswer(
  status: number,
  headers: Dispatcher.ResponseData['headers'],
  body: AsyncIterable<Buffer>,
  url: URL,
  isConditional: boolean,
): Promise<PictureAnswer> {
  const header = (name: string) => [headers[name]].flat()[0];
  if (status === 304 && isConditional) return { kind: 'unchanged' };
  if (redirects.includes(status)) return redirect(header('location'), url);
  if (status !== 200) return problem(`http_${status}`);
  if (!/^(identity)?$/i.test(header('content-encoding') ?? '')) return problem('packed');
  if (Number(header('content-length') ?? 0) > maxPictureBytes) return problem('too_large');
  const bytes = await readBytes(body);
  if (bytes === undefined) return problem('too_large');
  const ending = pictureEnding(bytes);
  if (ending === undefined) return problem('not_a_picture');
  return {
    kind: 'picture',
    bytes,
    ending,
    etag: validator(header('etag')),
    lastModified: validator(header('last-modified')),
  };
}

/** Parses a redirect; the connection checks its host as that of any request. */
function redirect(location: string | undefined, from: URL): PictureAnswer {
  const to = location === undefined ? null : URL.parse(location, from.href);
  if (to === null || !/^https?:$/.test(to.protocol) || to.username !== '' || to.password !== '')
    return problem('bad_redirect');
  to.hash = '';
  return { kind: 'redirect', to };
}

/** Reads a body; undefined where it exceeds the limit, whatever length the server states. */
async function readBytes(body: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let count = 0;
  for await (const chunk of body) {
    count += chunk.length;
    if (count > maxPictureBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns a validator that can be sent back in a header. */
function validator(text: string | undefined): string | null {
  return text !== undefined && text.length <= maxValidatorLength && /^[ -~]+$/.test(text) ? text : null;
}

function problem(found: PictureProblem): PictureAnswer {
  return { kind: 'problem', problem: found };
}

function problemOf(error: unknown): PictureProblem {
  if (error instanceof ConnectError) return error.problem;
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return 'bad_answer';
  return 'connection';
}
