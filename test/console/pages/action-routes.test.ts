import formbody from '@fastify/formbody';
import { fastify, type FastifyInstance } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import type { ActionJobs } from '../../../src/console/actions/jobs.ts';
import { ConsoleError } from '../../../src/console/page/page.ts';
import { addActionRoutes } from '../../../src/console/pages/operations/action-routes.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { outboxRow } from '../../support/deliveries.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { openJobs } from '../actions/action-tests.ts';
import { slow } from '../../support/slow.ts';

/** Adds dead postbacks. */
async function giveUp(data: DataDirectory, siteKey: string, ...numbers: number[]): Promise<void> {
  const store = SqliteStore.open(data);
  await store.importOutbox(
    'warehouse',
    numbers.map((number) => outboxRow(number, { siteKey })),
  );
  store.database.prepare(`UPDATE postbacks SET state = 'dead', next_attempt_at = NULL`).run();
  await store.close();
}

async function deadOnes(data: DataDirectory): Promise<number> {
  const store = SqliteStore.open(data);
  try {
    return await store.count({ state: 'dead' });
  } finally {
    await store.close();
  }
}

/** The routes over a new data directory, without the checks of the console. */
async function routes(): Promise<{ data: DataDirectory; jobs: ActionJobs; post: Post }> {
  const { data, remove } = await temporaryData();
  const jobs = await openJobs(data);
  const server: FastifyInstance = fastify();
  await server.register(formbody);
  server.decorateRequest('user', null);
  server.addHook('onRequest', async (request) => {
    request.user = { name: 'ada', role: 'operator' };
  });
  server.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof ConsoleError ? error.status : 500).send((error as Error).message),
  );
  addActionRoutes(server, jobs, (_request, { body }) => body.toString());
  onTestFinished(async () => {
    await jobs.stop();
    await server.close();
    await remove();
  });
  const post: Post = async (url, form) => {
    const payload = new URLSearchParams(form).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { statusCode, body, headers: given } = await server.inject({ method: 'POST', url, payload, headers });
    return { status: statusCode, body, location: given.location };
  };
  return { data, jobs, post };
}

type Post = (
  url: string,
  form: Record<string, string>,
) => Promise<{ status: number; body: string; location: string | undefined }>;

/** The hidden fields of a preview's form. */
function formOf(body: string): Record<string, string> {
  const fields = [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}

const idOf = (location = '') => location.replace('/actions/', '');

it('a preview shows the changes, and its form starts one job, sent twice at once', slow, async () => {
  const { data, jobs, post } = await routes();
  await giveUp(data, 's', 1, 2, 3);
  const preview = await post('/actions/retry-postbacks/preview', { site: 's', since: '' });
  expect(preview.status).toBe(200);
  expect(preview.body).toContain('<strong>postbacks: 3, sites: 1</strong>');
  expect(preview.body).toContain('<code>offerline postbacks retry --site=s</code>');
  expect(await deadOnes(data)).toBe(3);
  const form = formOf(preview.body);
  expect(Object.keys(form)).toEqual(['site', 'digest', 'request_id']);
  const [one, other] = await Promise.all([
    post('/actions/retry-postbacks', form),
    post('/actions/retry-postbacks', form),
  ]);
  expect([one.status, other.status, other.location]).toEqual([303, 303, one.location]);
  await jobs.ended(idOf(one.location));
  expect(jobs.list()).toMatchObject([{ user: 'ada', state: 'done', end: { counts: { postbacks_revived: 3 } } }]);
  expect(await deadOnes(data)).toBe(0);
});

it('a stale preview is replaced, and only the new one starts the action', slow, async () => {
  const { data, jobs, post } = await routes();
  await giveUp(data, 's', 1);
  const before = formOf((await post('/actions/retry-postbacks/preview', { all: 'yes' })).body);
  await giveUp(data, 't', 2);
  const refused = await post('/actions/retry-postbacks', before);
  expect([refused.status, jobs.list()]).toEqual([409, []]);
  expect(refused.body).toContain('role="alert">Retry dead postbacks: the changes are no longer those of the preview.');
  expect(refused.body).toContain('postbacks: 2, sites: 2');
  const started = await post('/actions/retry-postbacks', formOf(refused.body));
  expect(started.status).toBe(303);
  await jobs.ended(idOf(started.location));
  expect(await deadOnes(data)).toBe(0);
});

it('a preview without changes has no button, and hostile parameters stay text', async () => {
  const { data, post } = await routes();
  await giveUp(data, 's', 1);
  const { status, body } = await post('/actions/retry-postbacks/preview', { site: '"><img src=x>' });
  expect(status).toBe(200);
  expect(body).toContain('Nothing would change, so there is nothing to start.');
  expect(body).not.toContain('<form');
  expect(body).not.toContain('<img');
});

it.each([
  ['/actions/rebuild/preview', {}, 404, 'there is no action "rebuild"'],
  ['/actions/rebuild', {}, 404, 'there is no action "rebuild"'],
  ['/actions/backfill/preview', { from: 'yesterday' }, 422, 'Backfill daily reports: from: '],
  ['/actions/retry-postbacks/preview', {}, 422, 'choose ids, a site, since, until, or all'],
  ['/actions/refresh', { digest: 'd' }, 422, 'request_id: the form has none'],
])('%s with %j is refused with %i', async (path, form, status, sentence) => {
  const { post } = await routes();
  const refused = await post(path, form);
  expect([refused.status, refused.body]).toEqual([status, expect.stringContaining(sentence)]);
});

it('a field with a NUL is refused, and nothing starts', async () => {
  const { post } = await routes();
  for (const url of ['/actions/retry-postbacks/preview', '/actions/retry-postbacks'])
    expect(await post(url, { site: 'a\0b', since: '' })).toMatchObject({
      status: 400,
      body: expect.stringContaining('NUL') as string,
    });
});
