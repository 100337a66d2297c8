import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const statusByCode: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/**
 * Answers what is no HTTP, or too much of it, as no handler is asked: Node's own answer would have none of the headers
 * that all others have. For a server's event `clientError`.
 */
export function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  ownHeaders: Readonly<Record<string, string>>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = statusByCode[error.code ?? ''] ?? 400;
  const text = 'This is no request that can be answered.\n';
  const headers = {
    ...ownHeaders,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(text.length),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
}
