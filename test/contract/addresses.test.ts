import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { once } from 'node:events';
import { connect } from 'node:net';
import { temporaryData } from '../support/published-snapshot.ts';
import { startService } from '../support/running-service.ts';
import type { RunningService } from '../support/running-service.ts';
import { credentials, publishSmallNetwork, snapshotId } from '../support/small-network.ts';

let running: RunningService;
let preferringB: RunningService;
let remove: () => Promise<void>;

beforeAll(async () => {
  const temporary = await temporaryData();
  remove = temporary.remove;
  await publishSmallNetwork(temporary.data);
  running = await startService(temporary.data);
  preferringB = await startService(temporary.data, { default_variant: 'B' });
});

afterAll(async () => {
  await running.service.close();
  await preferringB.service.close();
  await remove();
});

const textOf = async (path: string) => await (await running.get(path)).text();

describe('the bare host', () => {
  test.each([
    ['/api/v1/offers', 'site-b', '/b/api/v1/offers'],
    ['/api/v1/offers', 'site-c', '/c/api/v1/offers'],
    ['/api/v1/offers', 'site-a', '/c/api/v1/offers'],
    ['/api/v1/offers/top-converting', 'site-c', '/b/api/v1/offers/top-converting'],
    ['/api/v1/reports', 'site-b', '/c/api/v1/reports'],
    ['/api/v1/status', 'site-b', '/c/api/v1/status'],
  ])('%s answers %s as %s does', async (bare, site, based) => {
    expect(await textOf(`${bare}?${credentials(site)}`)).toBe(await textOf(`${based}?${credentials(site)}`));
  });

  test('a pending site is refused in its own variant’s form', async () => {
    expect(await running.json(`/api/v1/offers?${credentials('pending-b')}`, 202)).toMatchObject({
      error: 'pending_site',
    });
    expect(await running.json(`/api/v1/offers?${credentials('pending-c')}`, 403)).toMatchObject({
      error: { code: 'SITE_PENDING' },
    });
  });

  test('parameters are those of the site’s variant', async () => {
    expect(await running.json(`/api/v1/offers?${credentials('site-b')}&take=0`, 400)).toMatchObject({
      error: 'invalid_parameter',
    });
    expect(await running.json(`/api/v1/offers?${credentials('site-c')}&take=0`, 422)).toMatchObject({
      error: { code: 'INVALID_PARAMETER' },
    });
  });

  test('the configured default answers where no site is identified, and for sites of Variant A', async () => {
    expect(await preferringB.json('/api/v1/offers', 400)).toMatchObject({ error: 'missing_fields' });
    expect(await preferringB.json('/api/v1/offers?site_key=x&site_secret=y', 401)).toMatchObject({
      error: 'authentication_failed',
    });
    expect(await preferringB.json(`/api/v1/offers?${credentials('site-a')}`)).toHaveProperty('offers.data');
    expect(await preferringB.json(`/api/v1/offers?${credentials('site-c')}`)).toHaveProperty('total');
    expect(await preferringB.json('/nowhere', 404)).toMatchObject({ error: 'not_found' });
  });

  test('links lead to the tracker, pictures to the listening address where nothing else is configured, never to the Host header', async () => {
    const { offers } = await running.json(`/c/api/v1/offers?${credentials('site-c')}`);
    expect(offers[0].tracking_url).toBe('http://127.0.0.1:8082/redirect/manual-offer/1/user/{user_id}/site/site-c');
    expect(offers[0].image).toBe(`${running.address}/asset/images/offers/tournament-1a2b.png`);
  });
});

describe('what is not there', () => {
  test.each([
    '/',
    '/c',
    '/c/',
    '/api',
    '/c/api/v1/offers/',
    '/C/api/v1/offers',
    '/c/api/v1/offers/top-converting',
    '/redirect/manual-offer/1/user/u/site/site-c',
    '/c/api/v1/%zz',
  ])('%s is a 404 in JSON', async (path) => {
    const response = await running.get(path);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
  });

  test.each(['&site_key=site-c&site_secret=x', ';x=1', '&', '!', '%3Fsite_key=site-c'])(
    'nor is an address of ours with %s behind it, whatever is asked of it',
    async (more) => {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const answer = await running.get(`/c/api/v1/offers${more}`, { method });
        expect([answer.status, answer.headers.get('allow')]).toEqual([404, null]);
      }
      expect(await running.json(`/b/api/v1/offers${more}`, 404)).toMatchObject({ error: 'not_found' });
    },
  );

  test.each(['/b', '/b/api/v1/status', '/b/api/v1/reports'])('%s is a 404 in the form of Variant B', async (path) => {
    expect(await running.json(path, 404)).toStrictEqual({ error: 'not_found', message: expect.any(String) });
  });
});

describe('methods', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is a 405 that names the others', async (method) => {
    for (const path of ['/c/api/v1/offers', '/b/api/v1/offers', '/api/v1/status', '/healthz']) {
      const response = await running.get(`${path}?${credentials('site-c')}`, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD');
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      await response.json();
    }
  });

  test.each(['PROPFIND', 'TRACE', 'PURGE', 'QUERY'])('%s too, which few send', async (method) => {
    const answer = await exchange(
      running.address,
      `${method} /b/api/v1/offers HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.split('\r\n')[0]).toContain('HTTP/1.1 405 ');
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: 'method_not_allowed' });
  });

  test('a body of any kind does not change that', async () => {
    for (const type of ['application/json', 'text/csv', 'nonsense']) {
      const response = await running.get('/b/api/v1/offers', {
        method: 'POST',
        body: 'x'.repeat(5000),
        headers: { 'content-type': type },
      });
      expect(response.status).toBe(405);
      expect(await response.json()).toMatchObject({ error: 'method_not_allowed' });
    }
  });

  test.each([
    ['/c/api/v1/offers', 200],
    ['/c/api/v1/status', 200],
    ['/b/api/v1/offers/top-converting', 200],
    ['/healthz', 200],
    ['/nowhere', 404],
  ])('HEAD %s has the headers of GET and no body', async (path, status) => {
    const address = `${path}?${credentials('site-c')}`;
    const get = await running.get(address);
    const head = await running.get(address, { method: 'HEAD' });
    expect(head.status).toBe(status);
    expect(await head.text()).toBe('');
    // Both count, so one fewer is left.
    const headersOf = ({ headers }: Response) =>
      [...headers].filter(([name]) => !['date', 'connection', 'keep-alive', 'x-ratelimit-remaining'].includes(name));
    expect(headersOf(head)).toEqual(headersOf(get));
    expect(Number(head.headers.get('content-length'))).toBe((await get.arrayBuffer()).byteLength);
  });
});

describe('headers', () => {
  test.each([
    ['/c/api/v1/offers', 'site-c', 200, '1.0'],
    ['/c/api/v1/status', 'site-c', 200, '1.0'],
    ['/c/api/v1/reports', 'site-c', 200, '1.0'],
    ['/api/v1/offers', 'site-c', 200, '1.0'],
    ['/c/api/v1/offers', 'pending-c', 403, '1.0'],
    ['/b/api/v1/offers', 'site-b', 200, null],
    ['/api/v1/offers', 'site-b', 200, null],
    ['/b/api/v1/offers', 'pending-b', 202, null],
  ])('%s for %s: %i, X-Api-Version %s', async (path, site, status, version) => {
    const { status: answered, headers } = await running.get(`${path}?${credentials(site)}`);
    expect(answered).toBe(status);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-snapshot-id')).toBe(snapshotId);
    expect(headers.get('x-data-as-of')).toBe('2026-11-20T12:00:00Z');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-api-version')).toBe(version);
    expect(headers.get('cache-control') === 'no-store').toBe(status !== 200 || path.endsWith('status'));
  });
});

describe('health', () => {
  test('healthz and readyz', async () => {
    expect(await running.json('/healthz')).toStrictEqual({ status: 'ok' });
    expect(await running.json('/readyz')).toStrictEqual({
      status: 'ready',
      snapshot_id: snapshotId,
      as_of: '2026-11-20T12:00:00Z',
    });
  });
});

/** Sends bytes as they are and returns all that comes back until the other side closes. */
function exchange(address: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    let received = '';
    connect(Number(port), hostname, function connected(this: import('node:net').Socket) {
      this.write(bytes);
    })
      .on('data', (chunk) => (received += chunk.toString()))
      .on('close', () => resolve(received))
      .on('error', reject);
  });
}

const last = 'Connection: close\r\n\r\n';

describe('requests that Node itself would answer', () => {
  test.each([
    ['a line that is not HTTP', 'nonsense\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      'headers beyond 16 KiB',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'BAD_REQUEST',
    ],
    ['no Host', `GET /healthz HTTP/1.1\r\n${last}`, 400, 'BAD_REQUEST'],
    ['no Host, and nothing there', `GET /nowhere HTTP/1.1\r\n${last}`, 400, 'BAD_REQUEST'],
    [
      'an expectation of its own',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n${last}`,
      417,
      'EXPECTATION_FAILED',
    ],
    [
      'an expectation of its own, by POST',
      `POST /c/api/v1/offers HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 3\r\n${last}tea`,
      417,
      'EXPECTATION_FAILED',
    ],
    ['CONNECT', `CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n`, 405, 'METHOD_NOT_ALLOWED'],
    [
      'chunk extensions without end',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
      413,
      'BAD_REQUEST',
    ],
  ])('%s', async (_what, bytes, status, code) => {
    const answer = (await exchange(running.address, bytes)).split(/(?=HTTP\/1\.1 \d)/).at(-1) ?? '';
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain(`HTTP/1.1 ${status} `);
    for (const line of [
      'content-type: application/json; charset=utf-8',
      'cache-control: no-store',
      'referrer-policy: no-referrer',
      'vary: accept-encoding',
      `x-snapshot-id: ${snapshotId.toLowerCase()}`,
    ]) {
      expect(head.toLowerCase()).toContain(line);
    }
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { code } });
  });

  test('are refused in the form of the variant whose path it is', async () => {
    expect(await exchange(running.address, `GET /a/api/offers HTTP/1.1\r\n${last}`)).toContain(
      '{"title":"Bad request","status":400,',
    );
    expect(
      await exchange(running.address, `GET /b/api/v1/offers HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n${last}`),
    ).toContain('{"error":"expectation_failed",');
  });

  test.each([
    ['HTTP/1.0, which needs no Host and knows no expectations', 'GET /healthz HTTP/1.0\r\nExpect: tea\r\n\r\n'],
    [
      'an upgrade that nobody knows',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n`,
    ],
    ['HTTP/2 in the clear', `GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n`],
    ['the one expectation that there is', `GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${last}`],
  ])('%s: answered as ever', async (_what, bytes) => {
    const answer = await exchange(running.address, bytes);
    expect(answer).toContain('HTTP/1.1 200 ');
    expect(answer).toContain('{"status":"ok"}');
  });

  test('CONNECT by clients that are gone at once harms nobody', async () => {
    const { hostname, port } = new URL(running.address);
    for (let time = 0; time < 20; time++) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write('CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\nmore');
      if (time % 2 === 1) await once(socket, 'data');
      socket.resetAndDestroy();
    }
    expect(await running.json('/healthz')).toEqual({ status: 'ok' });
  });

  test('come after the answers that were asked for before them', async () => {
    const answer = await exchange(
      running.address,
      `GET /c/api/v1/offers?${credentials('site-c')} HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n`,
    );
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '400']);
  });
});

describe('an address that is too long', () => {
  test.each([8_200, 15_000, 20_000, 60_000])('of %i characters is a 414 in JSON', async (length) => {
    const answer = await exchange(
      running.address,
      `GET /c/api/v1/offers?site_secret=${'x'.repeat(length)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.split('\r\n')[0]).toContain('HTTP/1.1 414 ');
    expect(answer).toContain('cache-control: no-store');
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      success: false,
      error: { code: 'URI_TOO_LONG' },
    });
  });

  test('is told in the form of its base address, whatever else is wrong with it', async () => {
    const query = 'x'.repeat(8_200);
    expect(await running.json(`/b/api/v1/offers?${query}`, 414)).toMatchObject({ error: 'uri_too_long' });
    expect(await running.json(`/b/nowhere?${query}`, 414)).toMatchObject({ error: 'uri_too_long' });
    expect(await running.json(`/b/%zz?${query}`, 414)).toMatchObject({ error: 'uri_too_long' });
  });
});
