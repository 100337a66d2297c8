import { request as startRequest, type Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { ConnectError } from '../../kit/guard/address-guard.ts';
import type { Outcome, OutcomeError } from '../rules/outcome.ts';
import type { PostbackRequest } from './postback-request.ts';
import { retryAfterSeconds } from '../rules/retry-after.ts';

/**
 * More of a response is not read. Nothing in it matters, but reading it to its end lets the connection be used again.
 */
const maxResponseBytes = 64 * 1024;
/** Size of the status line and headers of a response. */
const maxHeadBytes = 16 * 1024;
/**
 * Least bytes of a status below 200, any number of which may come before the response: `HTTP/1.1 100` and two ends of
 * lines.
 */
const minHeadBytes = 16;

/** Agents by the protocol of the address. */
export type AgentsByProtocol = Readonly<Record<'http:' | 'https:', Agent>>;

export interface AttemptOptions {
  agents: {
    /** Keeps connections. */
    kept: AgentsByProtocol;
    /** Makes a connection for every request. */
    fresh: AgentsByProtocol;
  };
  /** Moment of `performance.now()` that the deadline counts from. */
  since: number;
  deadlineMilliseconds: number;
  now: () => number;
}

/**
 * Request on its way. It ends once: at the end of the response, at what breaks it off, or at the deadline, whatever it
 * waits for then.
 */
export class Attempt {
  readonly #request: PostbackRequest;
  readonly #options: AttemptOptions;
  readonly #resolve: (outcome: Outcome) => void;
  #deadline: NodeJS.Timeout | undefined;
  #ended = false;
  #sent: ClientRequest | undefined;
  #origin: URL | null = null;
  #status: number | null = null;
  #retryAfterSeconds: number | null = null;
  #responseBytes = 0;
  #wasHeard = false;
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
      this.#send(this.#options.agents.kept, this.#origin);
    }
  }

  /** Ends the attempt unsent. */
  refuse(): void {
    this.#end('unsendable');
  }

  #send(agents: AgentsByProtocol, { protocol, hostname, port }: URL): void {
    const { method, url, headers, body } = this.#request;
    try {
      const sent = startRequest({
        agent: agents[protocol as keyof AgentsByProtocol],
        protocol,
        hostname,
        port,
        path: url.slice(this.#pathStart()),
        method,
        headers,
        maxHeaderSize: maxHeadBytes,
      });
      this.#sent = sent;
      sent.on('socket', () => this.#onConnection());
      // Any number of these may come unasked, and say nothing of the postback (RFC 9110, 15.2).
      sent.on('information', ({ rawHeaders }) => {
        this.#wasHeard = true;
        this.#countBytes(rawHeaders.reduce((sum, text) => sum + text.length + 2, minHeadBytes));
      });
      sent.on('upgrade', (_response, socket) => {
        socket.destroy();
        this.#end('connection');
      });
      sent.on('response', (response) => this.#onResponse(response));
      sent.on('error', (error) => this.#onError(error, sent.reusedSocket));
      sent.end(body);
    } catch {
      // What the publisher wrote cannot be in a request.
      this.#end('unsendable');
    }
  }

  /** Before anything of the request is written. */
  #onConnection(): void {
    // A process that was stopped hears of its connection before its timers: by then the postback may be another's.
    if (this.#elapsed >= this.#options.deadlineMilliseconds) this.#breakOff('timeout');
  }

  #onResponse(response: IncomingMessage): void {
    if (this.#ended) return;
    this.#status = response.statusCode ?? null;
    this.#retryAfterSeconds = retryAfterSeconds(
      response.headers['retry-after'],
      response.headers.date,
      this.#options.now(),
    );
    response.on('data', (chunk: Buffer) => this.#countBytes(chunk.length));
    response.on('end', () => this.#end('bad_answer'));
    response.on('error', () => this.#end('connection'));
  }

  #onError(error: Error, onUsedConnection: boolean): void {
    if (this.#ended) return;
    const problem = problemOf(error);
    // A receiver may close a kept connection while the next request is on its way to it. That is no failure of either;
    // had the receiver taken the request all the same, the second one has the same webhook-id.
    const mayBeUnheard = problem === 'connection' && this.#status === null && !this.#wasHeard;
    if (mayBeUnheard && onUsedConnection && !this.#sentAgain && this.#origin !== null) {
      this.#sentAgain = true;
      this.#send(this.#options.agents.fresh, this.#origin);
      return;
    }
    this.#end(problem, error instanceof ConnectError ? error.detail : undefined);
  }

  get #elapsed(): number {
    return performance.now() - this.#options.since;
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
    this.#sent?.destroy();
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

function problemOf(error: NodeJS.ErrnoException): OutcomeError {
  if (error instanceof ConnectError) return error.problem;
  // Node's parser of HTTP, which also says that a head is too large.
  return error.code?.startsWith('HPE_') ? 'bad_answer' : 'connection';
}
