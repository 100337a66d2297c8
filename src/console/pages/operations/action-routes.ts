import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ActionJobs } from '../../actions/jobs.ts';
import type { Preview } from '../../actions/preview.ts';
import { ActionProblem, StalePreview } from '../../actions/problems.ts';
import { ConsoleError } from '../../page/console-error.ts';
import type { Html } from '../../html/html.ts';
import { previewBody, type FormFields } from './preview.ts';

/** A whole document around a body, for who asks. */
type Framed = (request: FastifyRequest, page: { title: string; body: Html }) => string;

/**
 * The two steps of every action: a POST that shows what it would do, and one that begins it as it was shown. Viewers
 * come to neither: what is not a GET is for operators alone.
 */
export function addActionRoutes(
  server: FastifyInstance,
  jobs: Pick<ActionJobs, 'preview' | 'start'>,
  framed: Framed,
): void {
  server.post('/actions/:name/preview', async (request, reply) => {
    const { name } = request.params as { name: string };
    const fields = fieldsOf(request);
    return show(request, reply, await told(() => jobs.preview(name, fields)), fields);
  });

  server.post('/actions/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const { digest, request_id: requestId, ...fields } = fieldsOf(request);
    const asker = { user: request.user?.name ?? '', requestId: single(requestId) };
    try {
      const job = await jobs.start(name, fields, single(digest), asker);
      return reply.redirect(`/actions/${encodeURIComponent(job.id)}`, 303);
    } catch (error) {
      if (!(error instanceof StalePreview)) throw tellable(error);
      reply.code(error.status);
      return show(request, reply, await told(() => jobs.preview(name, fields)), fields, error.message);
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
      .send(framed(request, { title: `${preview.title}: preview`, body: previewBody(preview, fields, form) }));
  }
}

async function told<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw tellable(error);
  }
}

/** A problem as an operator is told of it, with its status. */
function tellable(error: unknown): unknown {
  return error instanceof ActionProblem ? new ConsoleError(error.status, error.message) : error;
}

function fieldsOf({ body }: FastifyRequest): FormFields {
  const fields = (body ?? {}) as FormFields;
  const named = Object.entries(fields).find(([name, value]) =>
    [name, value].flat().some((text) => text?.includes('\0')),
  );
  if (named !== undefined) throw new ConsoleError(400, 'A field of the form has a NUL in it: write it without.');
  return fields;
}

function single(value: FormFields[string]): string {
  return typeof value === 'string' ? value : '';
}
