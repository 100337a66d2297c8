import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../kit/http/errors.ts';
import { maxBodyBytes } from '../http/body-limit.ts';
import { readQueryString, type Query, type QueryValue } from '../../kit/http/query.ts';

/** Parameters as they were sent: of a POST those in its body, else those in the query. */
export function parametersOf(request: FastifyRequest): Query {
  return (request.method === 'POST' ? (request.body ?? {}) : request.query) as Query;
}

/** Has bodies read as forms, and as flat objects of JSON. */
export function readBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, readQueryString(body as string)),
  );
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, readFlatJson(body as string));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Texts and numbers by name; an empty text counts as absent, as in a query. Throws `ApiError`. */
function readFlatJson(body: string): Query {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch {
    document = undefined;
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) throw unreadableBody();
  const parameters: Record<string, QueryValue> = Object.create(null) as Record<string, QueryValue>;
  for (const [name, value] of Object.entries(document)) {
    if (value === null || value === '') continue;
    if (typeof value !== 'string' && typeof value !== 'number') throw unreadableBody();
    parameters[name] = String(value);
  }
  return parameters;
}

/** The mistake of a body that nothing can be read from, whatever it is. */
export function unreadableBody(): ApiError {
  return new ApiError(
    'unreadable_request',
    `send the parameters as a form, application/x-www-form-urlencoded, or as a flat object of application/json, ${maxBodyBytes} bytes at most`,
  );
}
