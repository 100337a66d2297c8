import type { Server } from 'node:http';

/**
 * Closes a server by `close`, which waits for its connections, and cuts those that are still there after `limit`. Each
 * `idle` it ends connections without a request, which clients would keep. Both in milliseconds.
 */
export async function closeInTime(
  server: Pick<Server, 'closeIdleConnections' | 'closeAllConnections'>,
  close: () => Promise<unknown>,
  { limit, idle }: { limit: number; idle?: number },
): Promise<void> {
  const overdue = setTimeout(() => server.closeAllConnections(), limit);
  const looking = idle === undefined ? undefined : setInterval(() => server.closeIdleConnections(), idle);
  try {
    await close();
  } finally {
    clearTimeout(overdue);
    clearInterval(looking);
  }
}
