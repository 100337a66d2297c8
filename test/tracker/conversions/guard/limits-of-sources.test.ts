import { expect, it } from 'vitest';
import { clickIdOf, route, start, TrackerUnderTest } from '../../tracker-under-test.ts';

const token = 'a-token-of-the-source-0123456789';
const day = 86_400_000;
const routes = [route({ offer_id: 1 }), route({ offer_id: 2, source: 'south' })];

it('a source’s own window says how old a click may be, and thirty days where it says nothing', async () => {
  const sources = [
    { source: 'north', postback: { token, click_window_days: 1 } },
    { source: 'south', postback: { token } },
  ];
  await using test = await TrackerUnderTest.start({ routes, sources });
  const [north, south] = [clickIdOf(await test.click(1, 'u')), clickIdOf(await test.click(2, 'u'))];
  const report = async (source: string, id: string) => {
    const query = `token=${token}&click_id=${id}&transaction_id=${test.now}`;
    const { status, body } = await test.ask(`/postback/${source}?${query}`);
    const { status: said, error } = JSON.parse(body) as { status?: string; error?: string };
    return `${status} ${said ?? error}`;
  };
  const said: [string, string][] = [];
  for (const after of [day, day + 1, 30 * day, 30 * day + 1]) {
    test.now = start + after;
    said.push([await report('north', north), await report('south', south)]);
  }
  expect(said).toEqual([
    ['200 recorded', '200 recorded'],
    ['410 click_too_old', '200 recorded'],
    ['410 click_too_old', '200 recorded'],
    ['410 click_too_old', '410 click_too_old'],
  ]);
});

/** Asks with a token from an address, as `X-Forwarded-For` names it. */
async function asking(settings: object, postback: object) {
  const test = await TrackerUnderTest.start({ routes, settings, sources: [{ source: 'north', postback }] });
  const id = clickIdOf(await test.click(1, 'u'));
  return {
    test,
    from: async (address: string, sent = token) => {
      const path = `/postback/north?token=${sent}&click_id=${id}`;
      return (await test.ask(path, { 'x-forwarded-for': address })).status;
    },
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

it('a source’s addresses are those that trusted proxies name, whatever a sender says besides', async () => {
  await using proxied = await asking({ trusted_proxies: ['127.0.0.1'] }, { token, allow: ['203.0.113.0/24'] });
  expect(await proxied.from('203.0.113.9')).toBe(200);
  expect(await proxied.from('198.51.100.9, 203.0.113.9')).toBe(200);
  expect(await proxied.from('203.0.113.9, 198.51.100.9')).toBe(401);
  await using direct = await asking({}, { token, allow: ['203.0.113.0/24'] });
  expect(await direct.from('203.0.113.9')).toBe(401);
  await using own = await asking({}, { token, allow: ['127.0.0.1'] });
  expect(await own.from('203.0.113.9')).toBe(200);
});

it('failures are counted by the addresses that trusted proxies name, and by the connection’s without any', async () => {
  const fail = async ({ from }: Awaited<ReturnType<typeof asking>>, address: string, times: number) =>
    Promise.all(Array.from({ length: times }, () => from(address, 'wrong')));
  await using proxied = await asking({ trusted_proxies: ['127.0.0.1'] }, { token });
  expect(new Set(await fail(proxied, '198.51.100.9', 60))).toEqual(new Set([401]));
  expect(await proxied.from('198.51.100.9')).toBe(429);
  expect(await proxied.from('203.0.113.9, 198.51.100.9')).toBe(429);
  expect(await proxied.from('203.0.113.9')).toBe(200);
  await using direct = await asking({}, { token });
  await fail(direct, '198.51.100.9', 60);
  expect(await direct.from('203.0.113.9')).toBe(429);
});
