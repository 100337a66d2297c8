import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from '../../kit/metrics/metrics.ts';
import { maxBodyBytes } from '../http/body-limit.ts';

/** Open at once. Measured: an idle one holds 13 kB here, one whose client does not read its page 100 kB. */
const maxOpenConnections = 2_000;
/** Requests of a connection that were read before their turn: one where a packet ends within the end of another. */
const maxWaitingRequests = 16;

/** The requests of a connection that are not answered yet. */
interface Line {
  answering: boolean;
  /** Bytes of the body of the request that is being answered which have not come yet. */
  bodyLeft: number;
  readonly waiting: (() => void)[];
  readOn: () => void;
}

/**
 * The clients' connections, each of which gets one answer at a time. Node by itself has all requests that a client
 * sends behind each other answered at once, though it may never take an answer: here the next one is read, and its
 * answer made, when the answer before it has left the process.
 */
export class Connections {
  readonly #maxOpenConnections: number;
  readonly #lines = new Map<Socket, Line>();
  readonly #refused;
  #answering = 0;
  #noneLeft: (() => void) | undefined;

  constructor(metrics: Metrics, maxOpen = maxOpenConnections) {
    this.#maxOpenConnections = maxOpen;
    this.#refused = metrics.counter(
      'offerline_connections_refused_total',
      'Connections closed since too many were open.',
    );
    metrics.gauge('offerline_connections', 'Open connections of clients.', () => this.#lines.size);
    metrics.gauge(
      'offerline_connections_limit',
      'Connections that may be open; more are closed as they come.',
      () => maxOpen,
    );
  }

  /** Has a server's requests answered. */
  serve(server: Server, answer: RequestListener): void {
    server.maxConnections = this.#maxOpenConnections;
    server.on('drop', () => this.#refused.inc());
    server.on('connection', (socket: Socket) => this.#open(socket));
    const inTurn: RequestListener = (request, response) => {
      this.inTurn(request.socket, (line) => {
        this.#count(line, 1);
        const length = Number(request.headers['content-length'] ?? 0);
        // A longer one is refused by its length.
        line.bodyLeft = length <= maxBodyBytes ? length : 0;
        response.once('close', () => this.#answered(request.socket, line));
        answer(request, response);
      });
    };
    server.on('request', inTurn);
    // One with an expectation that Node does not know would get an empty answer of Node's own.
    server.on('checkExpectation', inTurn);
  }

  /** Does this as soon as a connection has all the answers before it. */
  inTurn(socket: Socket, begin: (line: Line) => void): void {
    const line = this.#lines.get(socket);
    if (line === undefined) return;
    if (!line.answering) begin(line);
    else if (line.waiting.length < maxWaitingRequests) line.waiting.push(() => begin(line));
    else socket.destroy();
  }

  /**
   * Returns at a moment when every answer has left, or its client has gone. Node's own `server.close()` cuts off what
   * clients have not taken yet.
   */
  async finished(): Promise<void> {
    if (this.#answering > 0) await new Promise<void>((resolve) => (this.#noneLeft = resolve));
  }

  #open(socket: Socket): void {
    const line: Line = { answering: false, bodyLeft: 0, waiting: [], readOn: () => undefined };
    line.readOn = readPaced(socket, line);
    this.#lines.set(socket, line);
    socket.once('close', () => {
      this.#lines.delete(socket);
      line.waiting.length = 0;
      this.#count(line, 0);
    });
  }

  #answered(socket: Socket, line: Line): void {
    this.#count(line, 0);
    // What was sent behind a connection's last answer gets none.
    if (!socket.writable) return;
    line.waiting.shift()?.();
    line.readOn();
  }

  #count(line: Line, answering: 0 | 1): void {
    this.#answering += answering - Number(line.answering);
    line.answering = answering === 1;
    if (this.#answering === 0) this.#noneLeft?.();
  }
}

const endOfHead = '\r\n\r\n';
const nothing: Buffer = Buffer.alloc(0);

/**
 * Has what arrives on a connection read up to the end of one request's head, then its body, and the rest when the
 * connection is free for the next. Node by itself takes up to 64 KiB at a time and makes requests of all of it, fifty
 * times its memory, before anybody can pause it or close the connection: 300 connections with 590 requests each took
 * 600 MB and many seconds.
 * Returns a function to be called when the connection has become free.
 */
function readPaced(socket: Socket, line: Line): () => void {
  const push = socket.push.bind(socket);
  const fetch = socket._read.bind(socket);
  /** Bytes that have come and were not read yet. */
  let rest = nothing;
  const readOn = () => {
    let wantsMore = true;
    while (rest.length > 0 && (!line.answering || line.bodyLeft > 0)) {
      const come = rest;
      let end = come.length;
      if (line.answering) {
        end = Math.min(end, line.bodyLeft);
        line.bodyLeft -= end;
      } else {
        const head = come.indexOf(endOfHead);
        if (head !== -1) end = head + endOfHead.length;
      }
      const isAll = end === come.length;
      rest = isAll ? nothing : come.subarray(end);
      wantsMore = push(isAll ? come : come.subarray(0, end));
    }
    return wantsMore && rest.length === 0;
  };
  socket.push = (bytes: Buffer | null) => {
    // The end: it is not heard of before all that came before it has been read.
    if (bytes === null) return push(null);
    rest = bytes;
    return readOn();
  };
  socket._read = (size) => {
    if (rest.length === 0) fetch(size);
  };
  // Where nobody else listens, Node's parser takes the bytes from the system itself, past all this.
  socket.on('data', () => undefined);
  // In a turn of its own, so that one client's hundreds do not come before the first request of another.
  return () => {
    if (rest.length > 0) setImmediate(readOn);
  };
}
