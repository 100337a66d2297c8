import { errors } from 'undici';
import type { Agent, Dispatcher } from 'undici';
import { ConnectError } from '../../kit/guard/address-guard.ts';
import type { Outcome, OutcomeError } from '../rules/outcome.ts';
import type { PostbackRequest } from './postback-request.ts';
import { retryAfterSeconds } from '../rules/retry-after.ts';

/**
 * More of a response is not read. Nothing in it matters, but reading it to its end lets the connection be used again.
 */
const maxResponseBytes = 64 * 1024;
/**
 * Least bytes of a status below 200, any number of which may come before the response: `HTTP/1.1 100` and two ends of
 * lines.
 */
const minHeadBytes = 16;

export interface AttemptOptions {
  agents: {
    /** Keeps connections. */
    kept: Agent;
    /** Makes a connection for every request. */
    fresh: Agent;
  };
  /** Moment of `performance.now()` that the deadline counts from. */
  since: number;
  deadlineMilliseconds: number;
  now: () => number;
}

/**
 * Request on its way. undici calls it as things happen, and it ends once: at the end of the response, at what breaks it
 * off, or at the deadline, whatever undici is waiting for then.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  /** Set by the client that takes the request: whether its connection has had a request before this one. */
  connectionServed: () => boolean = () => false;
  readonly #request: PostbackRequest;
  readonly #options: AttemptOptions;
  readonly #resolve: (outcome: Outcome) => void;
  #deadline: NodeJS.Timeout | undefined;
  #ended = false;
  #controller: Dispatcher.DispatchController | undefined;
  #origin: URL | null = null;
  #status: number | null = null;
  #retryAfterSeconds: number | null = null;
  #responseBytes = 0;
  #onUsedConnection = false;
  #sentAgain = false;

  constructor(request: PostbackRequest, options: AttemptOptions, resolve: (outcome: Outcome) => void) {
    this.#request = request;
    this.#options = options;
    this.#resolve = resolve;
  }

  start(): void {
    // The path is sent unchanged: a URL would take dots in it as steps, and they may be a publisher's user.
    const end = this.#pathStart();
    this.#origin = URL.parse(this.#request.url.slice(0, end));
    if (this.#origin === null || !/^https?:$/.test(this.#origin.protocol)) {
      this.#end('unsendable');
    } else if (this.#origin.username !== '' || this.#origin.password !== '') {
      this.#end('refused_address', 'the address has a user name or a password in it, which is never sent');
    } else if (this.#origin.href !== `${this.#origin.origin}/`) {
      this.#end('unsendable');
    } else {
      this.#deadline = setTimeout(() => this.#breakOff('timeout'), this.#options.deadlineMilliseconds);
      this.#dispatch(this.#options.agents.kept);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#onUsedConnection = this.connectionServed();
    // A process that was stopped hears of its connection before its timers: by then the postback may be another's.
    if (this.#elapsed >= this.#options.deadlineMilliseconds) this.#end('timeout');
    // It waited for a connection until the deadline: it must not go out after its outcome was reported.
    if (this.#ended) controller.abort(new Error('too late'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#ended) return;
    if (status < 200) {
      this.#countBytes(
        Object.entries(headers).reduce((sum, header) => sum + header.join(': \r\n').length, minHeadBytes),
      );
      return;
    }
    this.#status = status;
    this.#retryAfterSeconds = retryAfterSeconds(
      [headers['retry-after']].flat()[0],
      [headers['date']].flat()[0],
      this.#options.now(),
    );
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#countBytes(chunk.length);
  }

  onResponseEnd(): void {
    this.#end('bad_answer');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return;
    const problem = problemOf(error);
    // A receiver may close a kept connection while the next request is on its way to it. That is no failure of either;
    // had the receiver taken the request all the same, the second one has the same webhook-id.
    if (problem === 'connection' && this.#status === null && this.#onUsedConnection && !this.#sentAgain) {
      this.#sentAgain = true;
      this.connectionServed = () => false;
      this.#dispatch(this.#options.agents.fresh);
      return;
    }
    this.#end(problem, error instanceof ConnectError ? error.detail : undefined);
  }

  get #elapsed(): number {
    return performance.now() - this.#options.since;
  }

  #dispatch(agent: Agent): void {
    const { method, url, headers, body } = this.#request;
    agent.dispatch(
      { origin: this.#origin?.origin ?? '', path: url.slice(this.#pathStart()), method, headers, body: body ?? null },
      this,
    );
  }

  #pathStart(): number {
    const start = this.#request.url.indexOf('/', 'https://'.length);
    return start === -1 ? this.#request.url.length : start;
  }

  #countBytes(bytes: number): void {
    this.#responseBytes += bytes;
    if (this.#responseBytes > maxResponseBytes) this.#breakOff('bad_answer');
  }

  #breakOff(problem: OutcomeError): void {
    this.#end(problem);
    this.#controller?.abort(new Error(problem));
  }

  /** A status that has arrived decides, whatever happened after it. */
  #end(problem: OutcomeError, detail?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#deadline);
    this.#resolve({
      status: this.#status,
      error: this.#status === null ? problem : errorOfStatus(this.#status),
      retryAfterSeconds: this.#retryAfterSeconds,
      durationMilliseconds: this.#elapsed,
      host: this.#origin?.host ?? '',
      ...(detail !== undefined && { detail }),
    });
  }
}

function errorOfStatus(status: number): OutcomeError | null {
  if (status < 300) return null;
  if (status < 400) return 'redirect';
  return status === 410 ? 'gone' : 'http_status';
}

function problemOf(error: Error): OutcomeError {
  if (error instanceof ConnectError) return error.problem;
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return 'bad_answer';
  // undici breaks the connection off at a "100 Continue" that nobody asked for. The receiver has the request, so it is
  // not sent again at once, as after a connection that was closed.
  if (error instanceof errors.SocketError && error.message === 'bad response') return 'bad_answer';
  const isUnsent = error instanceof errors.InvalidArgumentError || error instanceof errors.ClientDestroyedError;
  return isUnsent ? 'unsendable' : 'connection';
}
