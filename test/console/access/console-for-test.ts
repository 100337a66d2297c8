import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http';
import { createServer as createTlsServer, request as requestOverTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fastify, type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { defaultSettings, parseSettings } from '../../../src/kit/config/settings.ts';
import type { Settings } from '../../../src/kit/config/settings.ts';
import {
  addAccess,
  clientErrorHandler,
  frameworkErrors,
  requireRole,
  type Access,
} from '../../../src/console/access/access.ts';
import { UserRegistry } from '../../../src/console/access/user-registry.ts';
import { html } from '../../../src/kit/html/html.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface AskOptions {
  method?: string;
  headers?: OutgoingHttpHeaders;
  /** Fields of a form. */
  form?: Record<string, string>;
}

export interface ConsoleForTest {
  access: Access;
  users: UserRegistry;
  usersFile: string;
  /** Such as `127.0.0.1:40123`. */
  host: string;
  clock: { now: number };
  log: string[];
  /** Users that called the route of an action. */
  acted: string[];
  /** Sends a request as a program does, with the given headers only. */
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** Sends a form as a browser sends it from a page of the console. */
  post(path: string, form?: Record<string, string>, headers?: OutgoingHttpHeaders): Promise<Answer>;
}

/** An empty folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'console-access-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

export function settingsOf(own: object): Settings {
  return parseSettings(JSON.stringify(own), 'offerline.json');
}

/** A console with a page, a style sheet, a costly preview and an action, on a free port of 127.0.0.1. */
export async function consoleForTest(
  settings: Settings = defaultSettings,
  { usersFile, tls }: { usersFile?: string; tls?: { key: Buffer; cert: Buffer } } = {},
): Promise<ConsoleForTest> {
  const file = usersFile ?? join(await temporaryFolder(), 'console', 'users.json');
  const log: string[] = [];
  const users = new UserRegistry(file, pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }));
  await users.start();
  const clock = { now: Date.UTC(2026, 10, 22, 12) };
  const acted: string[] = [];
  const app: FastifyInstance = fastify({
    frameworkErrors,
    clientErrorHandler,
    serverFactory: (handle) =>
      tls === undefined ? createServer(handle) : (createTlsServer(tls, handle) as unknown as Server),
  });
  const access = await addAccess(app, {
    settings,
    users,
    linkFile: join(dirname(file), 'link.json'),
    renderPage: (title, body) => html`<title>${title}</title>${body}`.toString(),
    now: () => clock.now,
  });
  app.get('/offers', ({ user }) => `${user?.name} ${user?.role}`);
  app.get('/fails', () => {
    throw new Error('broken on purpose');
  });
  app.get('/preview', requireRole('operator'), () => 'preview');
  app.get('/style.css', requireRole('anybody'), () => 'a {}');
  app.post('/actions', ({ user }) => {
    acted.push(`${user?.name}`);
    return 'done';
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const ask = (path: string, { method = 'GET', headers, form }: AskOptions = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const body = form === undefined ? undefined : new URLSearchParams(form).toString();
      const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
      const options = { host: '127.0.0.1', port, path, method, headers: { host, ...type, ...headers }, agent: false };
      const sent =
        tls === undefined
          ? request(options)
          : requestOverTls({ ...options, ca: tls.cert, checkServerIdentity: () => undefined });
      sent.on('error', reject).on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response
          .on('data', (part: string) => (text += part))
          .on('error', reject)
          .on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      });
      sent.end(body);
    });
  return {
    access,
    users,
    usersFile: file,
    host,
    clock,
    log,
    acted,
    ask,
    post: (path, form = {}, headers = {}) =>
      ask(path, { method: 'POST', form, headers: { 'sec-fetch-site': 'same-origin', ...headers } }),
  };
}

/** The cookies of an answer, as a browser sends them back. */
export function cookieOf({ headers }: Answer): { cookie: string } {
  return { cookie: (headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ') };
}
