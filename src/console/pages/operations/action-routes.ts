import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ActionJobs } from '../../actions/jobs.ts';
import type { Preview } from '../../actions/preview.ts';
import { ActionError, StalePreviewError } from '../../actions/action-errors.ts';
import { ConsoleError } from '../../page/page.ts';
import type { Html } from '../../../kit/html/html.ts';
import { previewBody, type FormFields } from './preview.ts';

/** Renders a document for the user of a request. */
type RenderDocument = (request: FastifyRequest, page: { title: string; body: Html }) => string;

/**
 * The two steps of every action: a POST that previews it, and a POST that starts it as it was previewed. Viewers reach
 * neither, because every POST needs the role of an operator.
 */
export function addActionRoutes(
  server: FastifyInstance,
  jobs: Pick<ActionJobs, 'preview' | 'start'>,
  renderDocument: RenderDocument,
): void {
  server.post('/actions/:name/preview', async (request, reply) => {
    const { name } = request.params as { name: string };
    const fields = fieldsOf(request);
    return show(request, reply, await withPageErrors(() => jobs.preview(name, fields)), fields);
  });

  server.post('/actions/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const { digest, request_id: requestId, ...fields } = fieldsOf(request);
    const requester = { user: request.user?.name ?? '', requestId: single(requestId) };
    try {
      const job = await jobs.start(name, fields, single(digest), requester);
      return reply.redirect(`/actions/${encodeURIComponent(job.id)}`, 303);
    } catch (error) {
      if (!(error instanceof StalePreviewError)) throw pageErrorOf(error);
      reply.code(error.status);
      return show(request, reply, await withPageErrors(() => jobs.preview(name, fields)), fields, error.message);
    }
  });

  function show(
    request: FastifyRequest,
    reply: FastifyReply,
    preview: Preview,
    fields: FormFields,
    stale?: string,
  ): FastifyReply {
    const form = { requestId: randomBytes(16).toString('hex'), ...(stale === undefined ? {} : { stale }) };
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(renderDocument(request, { title: `${preview.title}: preview`, body: previewBody(preview, fields, form) }));
  }
}

async function withPageErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw pageErrorOf(error);
  }
}

/** Turns an error of an action into the answer of its page. */
function pageErrorOf(error: unknown): unknown {
  return error instanceof ActionError ? new ConsoleError(error.status, error.message) : error;
}

function fieldsOf({ body }: FastifyRequest): FormFields {
  const fields = (body ?? {}) as FormFields;
  const named = Object.entries(fields).find(([name, value]) =>
    [name, value].flat().some((text) => text?.includes('\0')),
  );
  if (named !== undefined) throw new ConsoleError(400, 'A field of the form has a NUL character: remove it.');
  return fields;
}

function single(value: FormFields[string]): string {
  return typeof value === 'string' ? value : '';
}
