import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { createLookup, type Lookup } from './name-lookup.ts';

/** Reasons for a failed connection. */
export type ConnectProblem = 'refused_address' | 'dns' | 'timeout' | 'tls' | 'connection';

export class ConnectError extends Error {
  readonly problem: ConnectProblem;
  /** Why an address was refused, as a sentence. */
  readonly detail: string | undefined;

  constructor(problem: ConnectProblem, options?: ErrorOptions & { detail?: string }) {
    super(`no connection: ${problem}`, options);
    this.problem = problem;
    this.detail = options?.detail;
  }
}

export interface GuardOptions {
  /** Lifts the ranges of addresses, for tests and private networks. */
  allowPrivate: boolean;
  connectMilliseconds: number;
  lookup?: Lookup | undefined;
}

/**
 * True where the environment allows private networks, for all requests to addresses that others wrote: postbacks and
 * pictures.
 */
export function allowsPrivateNetworks(environment: NodeJS.ProcessEnv): boolean {
  return environment['OFFERLINE_ALLOW_PRIVATE_POSTBACKS'] === '1';
}

/**
 * Names that are never of the public internet (RFC 6761, 6762, 8375, 7686 and ICANN's reservation of .internal). They
 * are not even looked up: a network's own servers may know some of them.
 */
const reservedName = /(?:^|\.)(?:localhost|local|internal|invalid|test|example|onion|home\.arpa)\.?$/i;

/**
 * Creates undici's connector for public addresses only. It checks three times: a host that is an address or a reserved
 * name, all addresses of a name before any is tried, and the address that the socket reached. Fails with
 * `ConnectError`.
 */
export function guardedConnector({
  allowPrivate,
  connectMilliseconds,
  lookup = createLookup(),
}: GuardOptions): buildConnector.connector {
  const allowed = (address: string) => allowPrivate || isPublicAddress(address);
  // One request at a time on a connection: the responses to many on one would fail together.
  const connector = buildConnector({
    allowH2: false,
    timeout: connectMilliseconds,
    lookup: guardedLookup(lookup, allowed),
  });
  return (options, callback) => {
    const literal = options.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(literal) !== 0 ? !allowed(literal) : !allowPrivate && reservedName.test(literal)) {
      queueMicrotask(() => callback(refused(literal), null));
      return;
    }
    let reached = false;
    // The types leave out that a socket is returned.
    const socket = connector(options, (error, opened) => {
      if (error !== null) callback(connectError(error, reached), null);
      else if (opened.errored !== null) callback(connectError(opened.errored, reached), null);
      else callback(null, opened);
    }) as unknown as Socket;
    // Before undici's own listener, which would go on to send the request.
    socket.prependOnceListener('connect', () => {
      reached = true;
      const address = socket.remoteAddress;
      // There is none when the other side has hung up already.
      if (!allowed(address ?? ''))
        socket.destroy(address === undefined ? new ConnectError('connection') : refused(address));
    });
  };
}

/**
 * True for an address of the public internet. IPv6 addresses that carry an IPv4 address are not public: where they lead
 * depends on the network.
 */
export function isPublicAddress(address: string): boolean {
  // The library would also take the older spellings, such as 127.1.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  // Beyond 2000::/3 nothing has been given out yet, and the old ::/96 carries IPv4.
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(ipaddr.IPv6.parse('2000::'), 3);
}

/** The error of an address, or a reserved name, that is not of the public internet; `name`: what was looked up. */
function refused(address: string, name?: string): ConnectError {
  const what =
    isIP(address) === 0
      ? `${address} is a name that the public internet does not have`
      : `${name === undefined ? '' : `${name} is at `}${address}${name === undefined ? ' is' : ','} an address of the range ${rangeOf(address)}`;
  return new ConnectError('refused_address', { detail: what });
}

/** Such as `private` or `link-local`. */
function rangeOf(address: string): string {
  const range = ipaddr.parse(address).range();
  return range === 'unicast' ? 'reserved' : range.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Looks names up. A name with one private address is refused as a whole. Concurrent connections share the look-up of a
 * name.
 */
function guardedLookup(lookup: Lookup, allowed: (address: string) => boolean): LookupFunction {
  type Waiting = (error: Error | null, addresses: LookupAddress[]) => void;
  const underWay = new Map<string, Waiting[]>();
  function addressesOf(hostname: string, callback: Waiting): void {
    const waiting = underWay.get(hostname);
    if (waiting !== undefined) {
      waiting.push(callback);
      return;
    }
    const callbacks = [callback];
    underWay.set(hostname, callbacks);
    lookup(hostname, { all: true }, (error, addresses) => {
      underWay.delete(hostname);
      for (const each of callbacks) each(error, addresses);
    });
  }
  return (hostname, options, callback) => {
    addressesOf(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      const closed = addresses?.find(({ address }) => !allowed(address));
      if (error !== null || first === undefined) callback(new ConnectError('dns', { cause: error }), '');
      else if (closed !== undefined) callback(refused(closed.address, hostname), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function connectError(error: Error, reached: boolean): ConnectError {
  if (error instanceof ConnectError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return new ConnectError('timeout', { cause: error });
  // A plain connection is made once it is reached; what fails after that is the handshake.
  return new ConnectError(reached ? 'tls' : 'connection', { cause: error });
}
