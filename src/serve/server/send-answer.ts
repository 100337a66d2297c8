import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Answer, PiecedBody } from '../http/response.ts';
import type { UnsentBodies } from './in-flight-responses.ts';

/** The one way by which an answer leaves the process. What its client does not take at once counts as unsent. */
export function sendAnswer(
  reply: FastifyReply,
  { status, headers, more, body, release }: Answer,
  unsent: UnsentBodies,
): FastifyReply {
  const { raw, request } = reply;
  if (body !== undefined && headers['cache-control'] !== undefined) {
    // It says itself whatever a plugin would add, so it goes out directly: that takes a tenth off the whole cost of a page.
    raw.writeHead(status, { ...headers, ...more, 'content-length': body.length });
    reply.hijack();
    if (!('pieces' in body)) raw.end(body);
    else if (request.method === 'HEAD') raw.end();
    // It fails where the client goes before it has all, and that is no failure of ours.
    else void sendInPieces(body, raw).catch(() => undefined);
  } else {
    reply
      .code(status)
      .headers({ ...headers, ...more })
      .send(body);
  }
  // Nearly always the system has taken all of it by now. Where it has not, the lent memory goes with the answer.
  if (raw.writableEnded && raw.writableLength === 0) release?.();
  else if (body !== undefined && !raw.destroyed) unsent.hold(body, raw);
  return reply;
}

/** The next piece is made when the system has taken the one before, and other requests have had their turn. */
async function sendInPieces(body: PiecedBody, raw: ServerResponse): Promise<void> {
  for (const piece of body.pieces()) {
    await new Promise<void>((resolve, reject) => void raw.write(piece, (error) => (error ? reject(error) : resolve())));
    await nextTurn();
  }
  raw.end();
}
