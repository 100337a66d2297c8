import { expect, it } from 'vitest';
import { list } from 'isbot';
import { Agents, isOlder } from '../../../src/tracker/agents/agents.ts';
import { metByPersons } from '../../../src/tracker/agents/robots.ts';
import { route, TrackerUnderTest } from '../tracker-under-test.ts';
import realAgents from './real-agents.json' with { type: 'json' };

const agents = new Agents();
const iphone = (system: string, rest: string) =>
  `Mozilla/5.0 (iPhone; CPU iPhone OS ${system} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ${rest}`;
const android = (about: string) =>
  `Mozilla/5.0 (Linux; ${about}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36`;
const mac = (rest: string) => `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${rest}`;
const webView =
  'Mozilla/5.0 (Linux; Android 10; K; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36';
const linux = (rest: string) => `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ${rest}`;
const macSafari = mac('AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15');

it.each([
  ['Safari 17', iphone('17_2', 'Version/17.2 Mobile/15E148 Safari/604.1'), 'ios', '17.2'],
  ['Safari 26 says 18.6 for ever', iphone('18_6', 'Version/26.1 Mobile/15E148 Safari/604.1'), 'ios', '26.1'],
  ['a page within an app says 18.6, too', iphone('18_6_2', 'Mobile/22G100 Instagram 390.0'), 'ios', ''],
  ['Safari on a real 18.6', iphone('18_6', 'Version/18.6 Mobile/15E148 Safari/604.1'), 'ios', '18.6'],
  ['Chrome on every Android', android('Android 10; K'), 'android', ''],
  ['a page within an app on Android', webView, 'android', ''],
  ['a telephone of its own', android('Android 7.1; SM-J510'), 'android', '7.1'],
  ['a Mac or an iPad', macSafari, 'desktop', ''],
  ['Windows', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0.0.0 Safari/537.36', 'desktop', ''],
  ['a television', 'Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0) AppleWebKit/538.1', undefined, ''],
  ['nothing', '', undefined, ''],
])('%s', (_name, text, device, version) => {
  expect(agents.read(text)).toMatchObject({ device, version, isBot: false });
});

it.each(Object.entries(realAgents.persons))('%s: each is a person, with a device of its own', (_kind, agentsSeen) => {
  for (const { agent, device: expected } of agentsSeen) {
    const { isBot, device = 'unknown', mayBe } = agents.read(agent);
    const found = mayBe === undefined ? device : `${device} or ${mayBe}`;
    expect({ agent, isBot, device: found }).toEqual({ agent, isBot: false, device: expected });
  }
});

it.each(Object.entries(realAgents.robots))('%s: each is none of a person', (_kind, agentsSeen) => {
  for (const { agent } of agentsSeen)
    expect({ agent, isBot: agents.read(agent).isBot }).toEqual({ agent, isBot: true });
});

it('leaves out no pattern of isbot that isbot no longer has', () => {
  expect([...metByPersons].filter((pattern) => !list.includes(pattern))).toEqual([]);
});

it.each([
  ['Telekom.com', 'a carrier'],
  ['Google Fi', 'a carrier with the name of a search engine'],
  ['T-Bot http server', 'a carrier with words of robots'],
])('a telephone of %s in Facebook is a person: %s', async (carrier) => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1, devices: ['android'] })] });
  const app = `[FBAN/FB4A;FBAV/446.0.0.36.118;FBCR/${carrier};FBMF/Google;FBBD/google;FBDV/Pixel 8;FBSV/14;]`;
  const inBrowser = `${android('Android 14; Pixel 8 Build/UQ1A.240105.002; wv')} ${app}`;
  for (const text of [inBrowser, app]) expect((await test.click(1, 'u', { 'user-agent': text })).status).toBe(302);
});

it.each([
  'WhatsApp/2.23.20.0 A',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Slack-ImgProxy (+https://api.slack.com/robots)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
  'TelegramBot (like TwitterBot)',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
])('%s is none of a person: its visits are no clicks', async (text) => {
  expect(agents.read(text).isBot).toBe(true);
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1, daily_click_cap: 1 })] });
  const { status, headers, body } = await test.click(1, 'u', { 'user-agent': text });
  expect([status, headers.location, headers['cache-control'], body]).toEqual([204, undefined, 'no-store', '']);
  // The person who is shown the link can still follow it.
  expect((await test.click(1, 'u')).status).toBe(302);
  await test.stop();
  expect(test.rows()).toHaveLength(1);
});

it('keeps and passes on a model whose name is in UTF-8, and cuts a long text within no character', async () => {
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1, source: 'north', destination_url: 'https://adv.example/?a={user_agent}' })],
    settings: { tracker: { sources: { north: { pass: ['user_agent'] } } } },
  });
  const inUtf8 = [android('Android 11; 小米 Note 🐸'), android(`Android 11; ${'🐸'.repeat(300)}`)];
  const inLatin1 = android('Android 11; Caf\xe9');
  // Node writes a header as a byte for each character.
  const headers = [...inUtf8.map((text) => Buffer.from(text).toString('latin1')), inLatin1];
  const passed: (string | null)[] = [];
  for (const [index, header] of headers.entries()) {
    const { location = '' } = (await test.click(1, `u${index}`, { 'user-agent': header })).headers;
    passed.push(new URL(location).searchParams.get('a'));
  }
  const kept = [...inUtf8, inLatin1].map((text) => text.slice(0, 512).toWellFormed());
  expect(passed).toEqual(kept);
  await test.stop();
  expect(test.rows().map(({ user_agent }) => user_agent)).toEqual(kept);
});

it('versions are compared part by part, and what is none is not older', () => {
  const older = [
    ['7.1', '8.0'],
    ['8.0.9', '8.1'],
    ['9', '10'],
    ['17', '17.0.1'],
  ] as const;
  for (const [version, lowest] of older)
    expect([version, lowest, isOlder(version, lowest)]).toEqual([version, lowest, true]);
  const notOlder = [
    ['8', '8.0'],
    ['10', '9.9'],
    ['', '9'],
    ['9', 'any'],
    ['26.0', '18.6'],
  ] as const;
  for (const [version, lowest] of notOlder)
    expect([version, lowest, isOlder(version, lowest)]).toEqual([version, lowest, false]);
});

it('offers for some devices and systems let pass those that match and those that are unknown', async () => {
  await using test = await TrackerUnderTest.start({
    routes: [
      route({ offer_id: 1, devices: ['ios'], ios_min_os: '26.0' }),
      route({ offer_id: 2, devices: ['android'], android_min_os: '12' }),
      route({ offer_id: 3, devices: ['desktop'] }),
    ],
  });
  const cases: [offer: number, agent: string, expected: string][] = [
    [1, iphone('18_6', 'Version/26.0 Mobile/15E148 Safari/604.1'), '302'],
    [1, iphone('17_2', 'Version/17.2 Mobile/15E148 Safari/604.1'), '403 os_version'],
    [1, macSafari, '302'],
    // An app on an iPad.
    [1, mac('AppleWebKit/605.1.15 (KHTML, like Gecko)'), '302'],
    [1, mac('AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'), '403 device'],
    [1, android('Android 10; K'), '403 device'],
    [2, android('Android 10; K'), '302'],
    [2, webView, '302'],
    [2, android('Android 11; SM-A115F'), '403 os_version'],
    [3, macSafari, '302'],
    [3, iphone('17_2', 'Version/17.2 Mobile/15E148 Safari/604.1'), '403 device'],
    [3, '', '302'],
    // An Android that shows a desktop site claims to be a Linux; only browsers of its maker show it.
    [2, linux('Chrome/130.0.0.0 Safari/537.36'), '302'],
    [3, linux('Chrome/130.0.0.0 Safari/537.36'), '302'],
    [1, linux('Chrome/130.0.0.0 Safari/537.36'), '403 device'],
    [2, linux('SamsungBrowser/26.0 Chrome/122.0.0.0 Safari/537.36'), '302'],
    [3, linux('SamsungBrowser/26.0 Chrome/122.0.0.0 Safari/537.36'), '403 device'],
    // A model with a name like another system's.
    [2, android('Android 13; HiPad X'), '302'],
    [2, android('Android 11; HiPad X'), '403 os_version'],
    [1, android('Android 13; HiPad X'), '403 device'],
    // Telephones with keys say Android, consoles Windows.
    [1, 'Mozilla/5.0 (Mobile; Jio/F491H; Android; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5', '302'],
    [2, 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One) Chrome/130.0.0.0 Edg/130.0.0.0', '302'],
  ];
  for (const [offer, agent, expected] of cases) {
    const outcome = await test.outcome(`/redirect/manual-offer/${offer}/user/u/site/one`, { 'user-agent': agent });
    expect([offer, agent, outcome]).toEqual([offer, agent, expected]);
  }
});
