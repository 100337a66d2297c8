import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, isAmong } from '../kit/http/entity-tag.ts';

/**
 * Sends a text under a tag that stands for exactly it: whoever has it already is told no more than that. A page names
 * who looks at it, so nobody has the tag of another's.
 */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
  const tag = `"${entityTag(text)}"`;
  reply.header('etag', tag);
  return isAmong(request.headers['if-none-match'], tag) ? reply.code(304).send() : reply.send(text);
}
