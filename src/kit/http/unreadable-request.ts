import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const statusByCode: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

const unencoded =
  'The address has a blank, or a character that is not percent-encoded: encode it, and send the request again.\n';
/** Texts by the parser's code. After a blank it expects the version. */
const textByCode: Readonly<Record<string, string>> = { HPE_INVALID_URL: unencoded, HPE_INVALID_CONSTANT: unencoded };

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
  const text = textByCode[error.code ?? ''] ?? 'This is no request that can be answered.\n';
  const headers = {
    ...ownHeaders,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(text.length),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
}
