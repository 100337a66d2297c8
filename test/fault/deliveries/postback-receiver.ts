/**
 * A receiver as publishers run them, in a process of its own: it answers late, with errors, or breaks off, drawn by the
 * seed in its first argument; with `quick` as the second it answers at once, a tenth with errors, with `calm` all well.
 * Prints its address; answers `/calm` by being well from then on, `/count` and `/receipts` with all it got, and
 * `/wait?for=N` when N more have come. After `/hold?for=N` it answers nobody: that is answered once it holds N requests,
 * and `/release` answers them.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Random } from '../../../src/demo/generate/network/random.ts';

/** One request as it came in; also those that were answered with an error or not at all. */
export interface Receipt {
  webhookId: string;
  clickId: string;
  event: string;
  userId: string;
  site: string;
  /** Of the address that it came to. */
  path: string;
}

const random = new Random(Number(process.argv[2] ?? 1));
const receipts: Receipt[] = [];
const [quick, alwaysCalm] = [process.argv[3] === 'quick', process.argv[3] === 'calm'];
let calm = alwaysCalm;
let awaited: { count: number; answer: () => void }[] = [];
let held: { answers: (() => void)[]; count: number; begun: () => void } | undefined;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://receiver');
  if (pathname === '/receipts') return void response.end(JSON.stringify(receipts));
  if (pathname === '/count') return void response.end(String(receipts.length));
  if (pathname === '/calm') {
    calm = true;
    return void response.end();
  }
  if (pathname === '/hold') {
    held = { answers: [], count: Number(searchParams.get('for')), begun: () => void response.end() };
    return;
  }
  if (pathname === '/release') {
    for (const answer of held?.answers ?? []) answer();
    held = undefined;
    return void response.end();
  }
  if (pathname === '/wait') {
    awaited.push({ count: receipts.length + Number(searchParams.get('for')), answer: () => void response.end() });
    return tellThoseWhoWait();
  }
  const field = (name: string) => searchParams.get(name) ?? '';
  const webhookId = String(request.headers['webhook-id']);
  receipts.push({
    webhookId,
    clickId: field('click_id'),
    event: field('event'),
    userId: field('user_id'),
    site: field('site_key'),
    path: pathname,
  });
  tellThoseWhoWait();
  if (held !== undefined) {
    held.answers.push(() => void response.end('ok'));
    if (held.answers.length === held.count) held.begun();
    return;
  }
  const drawn = calm ? 1 : random.next();
  if (drawn < 0.1) return void response.writeHead(500).end();
  if (quick) return void response.end('ok');
  if (drawn < 0.13) return void request.socket.destroy();
  if (drawn < 0.16)
    return void response.writeHead(200, { 'content-length': '10' }).write('ok', () => request.socket.destroy());
  if (drawn < 0.4) return void setTimeout(random.between(1, 15)).then(() => response.end('ok'));
  response.end('ok');
});
function tellThoseWhoWait(): void {
  if (awaited.every(({ count }) => count > receipts.length)) return;
  for (const { count, answer } of awaited) if (count <= receipts.length) answer();
  awaited = awaited.filter(({ count }) => count > receipts.length);
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`);
});
