/**
 * A receiver as publishers run them, in a process of its own: it answers late, with errors, or breaks off, drawn by the
 * seed in its first argument. Prints its address; answers `/calm` by being well from then on, `/receipts` with all it
 * got, and `/wait?for=N` when N more have come.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Random } from '../../../src/generate/network/random.ts';

/** One request as it came in; also those that were answered with an error or not at all. */
export interface Receipt {
  webhookId: string;
  clickId: string;
  event: string;
  userId: string;
  site: string;
}

const random = new Random(Number(process.argv[2] ?? 1));
const receipts: Receipt[] = [];
let calm = false;
let awaited: { count: number; answer: () => void } | undefined;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://receiver');
  if (pathname === '/receipts') return void response.end(JSON.stringify(receipts));
  if (pathname === '/calm') {
    calm = true;
    return void response.end();
  }
  if (pathname === '/wait') {
    awaited?.answer();
    awaited = { count: receipts.length + Number(searchParams.get('for')), answer: () => void response.end() };
    return tellThoseWhoWait();
  }
  const field = (name: string) => searchParams.get(name) ?? '';
  receipts.push({
    webhookId: String(request.headers['webhook-id']),
    clickId: field('click_id'),
    event: field('event'),
    userId: field('user_id'),
    site: field('site_key'),
  });
  tellThoseWhoWait();
  const drawn = calm ? 1 : random.next();
  if (drawn < 0.1) return void response.writeHead(500).end();
  if (drawn < 0.13) return void request.socket.destroy();
  if (drawn < 0.16)
    return void response.writeHead(200, { 'content-length': '10' }).write('ok', () => request.socket.destroy());
  if (drawn < 0.4) return void setTimeout(random.between(1, 15)).then(() => response.end('ok'));
  response.end('ok');
});
function tellThoseWhoWait(): void {
  if (awaited === undefined || receipts.length < awaited.count) return;
  awaited.answer();
  awaited = undefined;
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`);
});
