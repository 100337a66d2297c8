import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryData } from '../../support/published-snapshot.ts';
import { startService } from '../../support/running-service.ts';
import type { RunningService } from '../../support/running-service.ts';

let running: RunningService;
let remove: () => Promise<void>;
let html: string;

beforeAll(async () => {
  // Nothing is published: the page is there all the same.
  const temporary = await temporaryData();
  remove = temporary.remove;
  running = await startService(temporary.data);
  html = await (await running.get('/docs')).text();
});

afterAll(async () => {
  await running.service.close();
  await remove();
});

/** What the page loads, as paths. */
const loaded = () =>
  [...html.matchAll(/(?:src|href)="([^"]*)"/g)]
    .map(([, address]) => new URL(address as string, `${running.address}/docs`))
    .map((url) => url.href.replace(running.address, ''));

test('the page may load nothing from elsewhere, and is asked for again every minute', async () => {
  const { status, headers } = await running.get('/docs');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('cache-control')).toBe('private, max-age=60');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const policy = new Map(
    headers
      .get('content-security-policy')
      ?.split('; ')
      .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
  );
  expect(Object.fromEntries(policy)).toStrictEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  });
  // Such a policy would stop a script or style within the page.
  expect(html).not.toMatch(/<style|<script>|\son\w+=|\sstyle=/);
});

test('its files are ours, with their types, and stay the same for ever', async () => {
  const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', png: 'image/png' };
  expect(loaded()).toHaveLength(4);
  for (const path of loaded()) {
    const answer = await running.get(path, { headers: { 'accept-encoding': 'br' } });
    expect(answer.status, path).toBe(200);
    expect(answer.headers.get('content-type')).toBe(types[path.split('.').at(-1) as keyof typeof types]);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const size = (await answer.arrayBuffer()).byteLength;
    expect(size).toBeGreaterThan(100);
    expect(answer.headers.get('content-encoding')).toBe(size > 1024 ? 'br' : null);
    const etag = answer.headers.get('etag') ?? '';
    const unchanged = await running.get(path, { headers: { 'accept-encoding': 'br', 'if-none-match': etag } });
    expect([unchanged.status, unchanged.headers.get('cache-control')]).toEqual([
      304,
      answer.headers.get('cache-control'),
    ]);
  }
});

test('it shows our own document, and asks no validator', async () => {
  const start = await (await running.get(loaded().find((path) => path.endsWith('/start.js')) ?? '')).text();
  const page = {
    shown: undefined as unknown,
    SwaggerUIBundle: Object.assign((options: unknown) => void (page.shown = options), { presets: { apis: 'apis' } }),
  };
  runInNewContext(start, page);
  expect(page.shown).toMatchObject({
    url: 'openapi.json',
    validatorUrl: null,
    dom_id: '#swagger-ui',
    presets: ['apis'],
  });
  // Headers are said once, in the description, and not at each status.
  const [plugin] = (page.shown as { plugins: (() => { wrapComponents: { headers: () => () => unknown } })[] }).plugins;
  expect(plugin?.().wrapComponents.headers()()).toBeNull();
  expect(html).toContain('id="swagger-ui"');
  const { openapi, info, paths } = await running.json('/openapi.json');
  expect(openapi).toBe('3.1.0');
  const described = Object.values<any>(paths).flatMap(({ get, post }) =>
    get?.security.length === 0
      ? []
      : Object.values<any>((get ?? post).responses).flatMap(({ headers }) => Object.keys(headers)),
  );
  for (const name of new Set(described)) expect(info.description).toContain(`| \`${name}\` |`);
});

describe('only these addresses exist', () => {
  test('nothing else below /docs or in another version, and nothing under the variants', async () => {
    const folder = loaded()[0]?.replace(/[^/]*$/, '') ?? '';
    const paths = [
      '/docs/',
      '/docs/index.html',
      '/docs/swagger-ui.css',
      '/docs/other/swagger-ui.css',
      folder,
      `${folder}index.html`,
      `${folder}swagger-initializer.js`,
      `${folder}package.json`,
      `${folder}..%2fpackage.json`,
      `${folder}swagger-ui.css/`,
      '/a/docs',
      '/b/docs',
      '/c/docs',
    ];
    for (const path of paths) {
      const { status, headers } = await running.get(path);
      expect([status, headers.get('cache-control'), headers.get('content-type')], path).toEqual([
        404,
        'no-store',
        'application/json; charset=utf-8',
      ]);
    }
  });

  test('GET and HEAD only', async () => {
    for (const path of ['/docs', ...loaded()]) {
      const get = await running.get(path);
      const head = await running.get(path, { method: 'HEAD' });
      expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', get.headers.get('etag')]);
      expect(Number(head.headers.get('content-length'))).toBe((await get.arrayBuffer()).byteLength);
      const posted = await running.get(path, { method: 'POST' });
      expect([posted.status, posted.headers.get('allow'), posted.headers.get('cache-control')]).toEqual([
        405,
        'GET, HEAD',
        'no-store',
      ]);
    }
  });
});
