import { buildConnector } from 'undici';

/** The port of a demo's receiver on loopback, which `start --demo` passes to the processes that it starts. */
export const receiverPortVariable = 'OFFERLINE_DEMO_RECEIVER_PORT';

/**
 * Names that are kept for examples (RFC 2606). No server of the internet has one, so that a demo's publishers can have
 * them: whatever is sent there reaches nobody by accident.
 */
export function isExampleName(hostname: string): boolean {
  return /\.example$/i.test(hostname);
}

/** The port that the environment names; undefined where none is meant. */
export function receiverPort(environment: NodeJS.ProcessEnv): number | undefined {
  const port = Number(environment[receiverPortVariable]);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}

/**
 * Connects names for examples to a demo's receiver on loopback, without TLS whatever the address says. All other names
 * and all addresses, loopback among them, stay with the guard.
 */
export function withExampleRoute(port: number, guarded: buildConnector.connector): buildConnector.connector {
  const plain = buildConnector({ allowH2: false });
  return (options, callback) =>
    isExampleName(options.hostname)
      ? plain({ protocol: 'http:', hostname: '127.0.0.1', port: String(port) }, callback)
      : guarded(options, callback);
}
