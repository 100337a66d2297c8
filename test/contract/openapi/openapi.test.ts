import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../../src/serve/api/operations.ts';
import type { ApiErrorKind } from '../../../src/kit/http/errors.ts';
import { ApiError } from '../../../src/kit/http/errors.ts';
import { credentials, serveSmallNetwork, snapshotId } from '../../support/small-network.ts';

let running: Awaited<ReturnType<typeof serveSmallNetwork>>;
let document: any;

beforeAll(async () => {
  running = await serveSmallNetwork();
  document = await running.json('/openapi.json');
});

afterAll(() => running.close());

/** All values of a name, anywhere in the document. */
function allOf(node: unknown, name: string): unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => (key === name ? [value] : allOf(value, name)));
}

test('the document is served as a page, on the bare host only', async () => {
  const answer = await running.get('/openapi.json', { headers: { 'accept-encoding': 'br' } });
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('content-encoding')).toBe('br');
  expect(answer.headers.get('cache-control')).toBe('private, max-age=60');
  expect(answer.headers.get('x-snapshot-id')).toBe(snapshotId);
  expect(
    (
      await running.get('/openapi.json', {
        headers: { 'accept-encoding': 'br', 'if-none-match': answer.headers.get('etag') ?? '' },
      })
    ).status,
  ).toBe(304);
  expect((await running.get('/c/openapi.json')).status).toBe(404);
});

test('every operation of every variant is in it, and is served', async () => {
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths)).toEqual([
    '/a/api/offers',
    '/a/api/click-lookup',
    '/b/api/v1/offers',
    '/b/api/v1/offers/top-converting',
    '/c/api/v1/offers',
    '/c/api/v1/status',
    '/c/api/v1/reports',
    '/c/api/v1/statement',
    '/c/api/v1/conversions',
    '/c/api/v1/postbacks',
    '/c/api/v1/postbacks/{postback_id}/resend',
    '/c/api/v1/postbacks/test',
    '/asset/images/offers/{name}',
  ]);
  for (const { path, method = 'GET' } of operations)
    expect((await running.get(path, { method })).status, path).toBe(path.startsWith('/a') ? 422 : 400);
  // With pictures, and postbacks by each method.
  expect(new Set(allOf(document, 'operationId')).size).toBe(operations.length + 3);
});

test('every reference leads somewhere', () => {
  const references = allOf(document, '$ref') as string[];
  expect(references.length).toBeGreaterThan(20);
  for (const reference of references)
    expect(
      reference
        .split('/')
        .slice(1)
        .reduce((node, key) => node?.[key], document),
      reference,
    ).toBeDefined();
});

test('every code of every variant has an example, in the form of its errors', () => {
  const kinds: ApiErrorKind[] = [
    'missing_credentials',
    'unknown_credentials',
    'site_pending',
    'rate_limited',
    'wrong_type',
    'wrong_date',
    'wrong_parameter',
    'nothing_found',
    'unreadable_request',
    'unknown_path',
    'address_too_long',
    'unmet_expectation',
    'wrong_method',
    'unavailable',
    'internal',
  ];
  const codesOf = (values: any[]) => new Set(values.map((value) => value.error?.code ?? value.error ?? value.title));
  const examples = allOf(document, 'value') as any[];
  for (const { variant } of operations) {
    const mine = examples.filter((example) => variant.errorBody.safeParse(example).success);
    expect(
      [...codesOf(kinds.map((kind) => variant.describe(new ApiError(kind, 'x')).document))].filter(
        (code) => !codesOf(mine).has(code),
      ),
      variant.letter,
    ).toEqual([]);
  }
  expect(
    examples.every((example) => operations.some(({ variant }) => variant.errorBody.safeParse(example).success)),
  ).toBe(true);
});

describe('the limits of parameters are those that are checked', () => {
  const asked = operations.filter(({ method }) => method === undefined);
  const numbers = asked.flatMap(({ path, querystring }) =>
    Object.entries(z.toJSONSchema(querystring, { io: 'input' }).properties ?? {}).flatMap(([name, schema]) =>
      typeof schema === 'object' && schema.minimum !== undefined && schema.maximum !== undefined
        ? [[path, name, schema.minimum, schema.maximum] as const]
        : [],
    ),
  );

  test.each(numbers)('%s %s: %i to %i', async (path, name, minimum, maximum) => {
    const site = path.startsWith('/b') ? 'site-b' : 'site-c';
    const statusOf = async (value: number) =>
      (await running.get(`${path}?${credentials(site)}&${name}=${value}`)).status;
    expect([await statusOf(minimum), await statusOf(maximum)]).toEqual([200, 200]);
    const refused = path.startsWith('/b') ? 400 : 422;
    expect([await statusOf(minimum - 1), await statusOf(maximum + 1)]).toEqual([refused, refused]);
  });
});
