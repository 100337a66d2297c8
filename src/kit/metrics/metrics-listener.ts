import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from '../logging/log.ts';
import { listenAt } from '../http/listening-address.ts';
import { metricsContentType, type Metrics } from './metrics.ts';

/** Answers `/metrics` of a process that listens for nothing else. */
export interface MetricsListener {
  /** Starts to listen; returns the address, such as `http://127.0.0.1:9464`. Port 0 takes a free one. */
  listen(at: { host: string; port: number }): Promise<string>;
  close(): Promise<void>;
}

export function metricsListener(metrics: Metrics, logger: Logger): MetricsListener {
  const server = createServer((request, response) => {
    answer(metrics, request, response).catch((error: unknown) => {
      logger.error({ err: error }, '/metrics could not be answered; the next request tries again');
      response.writeHead(500).end();
    });
  });
  return {
    listen: (at) => listenAt(server, at),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

async function answer(
  metrics: Metrics,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = url.split('?', 1)[0];
  if (path !== '/metrics') return void response.writeHead(404).end('there is /metrics alone\n');
  if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  const text = await metrics.text();
  response.writeHead(200, { 'content-type': metricsContentType, 'cache-control': 'no-store' });
  response.end(method === 'HEAD' ? undefined : text);
}
