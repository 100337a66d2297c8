import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendHtml } from '../../access/sign-in.ts';
import type { Html } from '../../../kit/html/html.ts';
import { formLimits, type FileInspections } from '../../inspections/inspections.ts';
import { inspectedBody, tryFilePage } from './try-file.ts';

/**
 * The route that takes a file and shows what landing would make of it. The only one that takes forms in parts; viewers
 * do not reach it, because every POST needs the role of an operator.
 */
export function tryFileRoute(
  inspections: Pick<FileInspections, 'inspect'>,
  render: (request: FastifyRequest, body: Html) => string,
): (scope: FastifyInstance) => Promise<void> {
  return async (scope) => {
    await scope.register(multipart, { limits: formLimits });
    scope.post(tryFilePage.path, async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const length = request.headers['content-length'];
      const form = { parts: () => request.parts(), bytes: length === undefined ? undefined : Number(length) };
      // What is left of a form that is refused is read all the same: it is before the next request on its connection.
      const inspected = await inspections.inspect(form, gone.signal).finally(() => request.raw.unpipe().resume());
      return sendHtml(reply, 200, render(request, inspectedBody(request.user ?? { role: 'viewer' }, inspected)));
    });
  };
}
