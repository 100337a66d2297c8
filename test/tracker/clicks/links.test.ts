import { expect, it } from 'vitest';
import { fillDestination, readDestination } from '../../../src/pipeline/routes/destination.ts';
import { clickIdOf, route, TrackerUnderTest } from '../tracker-under-test.ts';

it('addresses that are none of a click', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const cases: [expected: string, path: string][] = [
    ['404 not_found', '/redirect/manual-offer/1/user/u/site'],
    ['404 not_found', '/redirect/manual-offer/1/user/u/site/one/'],
    ['404 not_found', '/redirect/manual-offer/1/user/u/site/one/more'],
    ['404 not_found', '/redirect/manual-offer/01/user/u/site/one'],
    ['404 not_found', '/redirect/manual-offer/1.0/user/u/site/one'],
    ['404 not_found', '/redirect/manual-offer/-1/user/u/site/one'],
    ['404 not_found', '/redirect/manual-offer/0/user/u/site/one'],
    ['404 not_found', '/redirect/manual-offer/2147483648/user/u/site/one'],
    ['404 not_found', '/redirect/manual-offer/1/user/%ff/site/one'],
    ['404 not_found', '/redirect/manual-offer/1/user/u/site/%ff'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user//site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/%00/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/a%0d%0ab/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/{user_id}/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/%7Buser_id%7D/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/%5CN/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/[USER_ID]/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/[user_id]/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/{{user_id}}/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/%25user_id%25/site/one'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/%257Buser_id%257D/site/one'],
    ['422 invalid_parameter', `/redirect/manual-offer/1/user/${'x'.repeat(257)}/site/one`],
    ['422 invalid_parameter', `/redirect/manual-offer/1/user/u/site/one?sub2=${'x'.repeat(501)}`],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/u/site/one?sub1=%ff'],
    ['422 invalid_parameter', '/redirect/manual-offer/1/user/u/site/one?sub1=&sub1='],
  ];
  for (const [expected, path] of cases) expect([path, await test.outcome(path)]).toEqual([path, expected]);
  await test.stop();
  expect(test.rows()).toEqual([]);
});

it('users as they are meant: decoded once, up to 256 characters of any kind', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const users = ['a%2Fb', '%2525', encodeURIComponent('🐸'.repeat(256)), '{click_id}', 'u+v'];
  for (const user of users) expect((await test.click(1, user)).status).toBe(302);
  await test.stop();
  expect(test.rows().map(({ user_id }) => user_id)).toEqual(['a/b', '%25', '🐸'.repeat(256), '{click_id}', 'u+v']);
});

it('macros are filled once, encoded, and never from one another', async () => {
  const destination_url =
    'https://a.example/{offer_id}/{sub1}?c={click_id}&t={transaction_id}&s={site_key}&e={external_id}&n={source}' +
    '&x={sub2}&u={user_id}&i={ip}&d={device}&o={os}&v={os_version}&k={nonsense}&g={gaid}#{affiliate_id}';
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1, destination_url })] });
  const answer = await test.ask(
    '/redirect/manual-offer/1/user/u/site/one?sub1={click_id}%26a%3D%2Fb%3F&sub2=$%26$1%0d%0a&gaid=secret-device',
  );
  const id = clickIdOf(answer);
  expect(answer.headers.location).toBe(
    `https://a.example/1/%7Bclick_id%7D%26a%3D%2Fb%3F?c=${id}&t=${id}&s=one&e=n-1&n=north` +
      '&x=%24%26%241%0D%0A&u=&i=&d=desktop&o=Windows&v=&k={nonsense}&g=#one',
  );
});

it.each([
  ['https://a.example/?c={{click_id}}&amp;o=${offer_id}', '/?c=<click_id>&o=<offer_id>'],
  ['https://a.example/[sub1]/?c=%7Bclick_id%7D&u=%user_hash%', '/<sub1>/?c=<click_id>&u=<user_hash>'],
  ['https://a.example/?c=#clickid#&f[country]=DE', '/?c=<click_id>&f[country]=DE'],
  // Of ayeT and AdGem; a name of the source's own, by its settings.
  ['https://a.example/?e={external_identifier}&p={playerid}', '/?e=<click_id>&p=<click_id>'],
  ['https://a.example/?c=[CID]&u={visitor}&k={nonsense}', '/?c=<click_id>&u=<user_hash>&k={nonsense}'],
])('%s is filled as its writer meant it', (written, expected) => {
  const macros = { CID: 'click_id', visitor: 'user_hash' } as const;
  const destination = readDestination(written, { append_click_id: 'never', macros });
  if ('mistake' in destination) throw new Error(destination.mistake);
  const filled = fillDestination(destination, (value) => `<${value}>`);
  expect(decodeURIComponent(filled)).toBe(`https://a.example${expected}`);
});

it('macros by the settings of their source are filled', async () => {
  const destination_url = 'https://a.example/?c={cid}';
  const settings = { tracker: { sources: { north: { macros: { cid: 'click_id' } } } } };
  await using test = await TrackerUnderTest.start({ settings, routes: [route({ offer_id: 1, destination_url })] });
  const answer = await test.click(1, 'u');
  expect(answer.headers.location).toBe(`https://a.example/?c=${clickIdOf(answer)}`);
});

it('what is of the person goes only to advertisers that may have it', async () => {
  const destination_url = 'https://a.example/?u={user_id}&i={ip}&g={gaid}&h={user_hash}';
  const settings = { tracker: { sources: { north: { pass: ['user_id', 'gaid'], append_click_id: 'aff' } } } };
  await using test = await TrackerUnderTest.start({
    settings,
    routes: [route({ offer_id: 1, destination_url }), route({ offer_id: 2, source: 'south', destination_url })],
  });
  const [north, south] = await Promise.all(
    [1, 2].map((offer) => test.ask(`/redirect/manual-offer/${offer}/user/ann/site/one?gaid=device-1`)),
  );
  expect(north?.headers.location).toMatch(/\?u=ann&i=&g=device-1&h=[0-9a-f]{32}&aff=[0-9a-z]{32}$/);
  expect(south?.headers.location).toMatch(/\?u=&i=&g=&h=[0-9a-f]{32}$/);
  await test.stop();
  expect(JSON.stringify(test.rows())).not.toContain('device-1');
});

const nowhere = [
  'javascript:alert(1)',
  '//host.example/x',
  '/path',
  'ftp://host.example/',
  'https://user:password@host.example/',
  'https://{sub1}@host.example/',
  'https://{sub1}/',
  'https://{sub1}.example/',
  'https://host.example:{random}/',
  'https://host.example{sub1}',
  'https://{nonsense}.host.example/',
  'https://{COUNTRY}.host.example/',
  'https://%7Bcountry%7D.host.example/',
  '{sub1}://host.example/',
  'https://',
];

it.each(nowhere)('%s leads nowhere', (destination) => {
  expect(readDestination(destination)).toHaveProperty('mistake');
});

it('an offer whose destination leads nowhere is gone, whatever its link says', async () => {
  const routes = nowhere.map((destination_url, index) => route({ offer_id: index + 1, destination_url }));
  await using test = await TrackerUnderTest.start({ routes });
  for (const { offer_id, destination_url } of routes) {
    const link = `/redirect/manual-offer/${offer_id}/user/u/site/one?sub1=https%3A%2F%2Fevil.example`;
    expect([destination_url, await test.outcome(link)]).toEqual([destination_url, '410 offer_gone']);
    expect((await test.ask(link)).headers.location).toBeUndefined();
  }
  await test.stop();
  expect(test.rows()).toEqual([]);
});

it('destinations hold as they are written, with the click id added before the fragment', () => {
  const filled = (text: string, parameter?: string) => {
    const destination = readDestination(text, parameter === undefined ? {} : { append_click_id: parameter });
    if ('mistake' in destination) throw new Error(destination.mistake);
    return fillDestination(destination, (value) => `<${value}>`);
  };
  expect(filled('https://a.example/zmacroz/{sub1}?zmacrozz={sub2}')).toBe(
    'https://a.example/zmacroz/%3Csub1%3E?zmacrozz=%3Csub2%3E',
  );
  expect(filled('https://a.example/?a=zmacro{sub1}o&b=zmacroz{sub2}')).toBe(
    'https://a.example/?a=zmacro%3Csub1%3Eo&b=zmacroz%3Csub2%3E',
  );
  expect(filled(`https://a.example/zmacr${'o'.repeat(300_000)}?c={sub1}`)).toMatch(/o\?c=%3Csub1%3E$/);
  expect(filled('https://a.example/p#{sub1}', 'click id')).toBe(
    'https://a.example/p?click%20id=%3Cclick_id%3E#%3Csub1%3E',
  );
  expect(filled('https://a.example/?a={sub2}', 'c')).toBe('https://a.example/?a=%3Csub2%3E&c=%3Cclick_id%3E');
  expect(filled('https://a.example/#{click_id}', 'c')).toBe('https://a.example/?c=%3Cclick_id%3E#%3Cclick_id%3E');
  // It has a place for it.
  expect(filled('https://a.example/?a={click_id}', 'c')).toBe('https://a.example/?a=%3Cclick_id%3E');
  expect(filled('https://a.example/ü y?é\n')).toBe('https://a.example/%C3%BC%20y?%C3%A9');
});
