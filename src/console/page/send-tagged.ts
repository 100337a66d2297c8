import type { FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, isAmong } from '../../kit/http/entity-tag.ts';

/**
 * Sends a text under an entity tag of its content, or 304 to a browser that has it. A page names its reader, so no two
 * users share a tag.
 */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
  const tag = `"${entityTag(text)}"`;
  reply.header('etag', tag);
  return isAmong(request.headers['if-none-match'], tag) ? reply.code(304).send() : reply.send(text);
}
