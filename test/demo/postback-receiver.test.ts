import { expect, it, onTestFinished } from 'vitest';
import { isDemoSite, startPostbackReceiver } from '../../src/demo/postback-receiver.ts';
import { publisherSites } from '../../src/demo/generate/network/publishers.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { receiverPort } from '../../src/postbacks/http/example-route.ts';
import { postbackRequest } from '../../src/postbacks/http/postback-request.ts';
import { createSender } from '../../src/postbacks/http/sender.ts';
import type { Postback } from '../../src/postbacks/rules/postback.ts';
import { siteSchema, type Site } from '../../src/kit/sites/sites.ts';

const credit: Postback = {
  webhookId: 'wh_1',
  event: 'credit',
  siteKey: 'get',
  userId: 'Zoë & co',
  clickId: 'click/1',
  reward: '0.1',
};
const siteAt = (site_key: string, url: string, method: 'GET' | 'POST' = 'GET') =>
  siteSchema.parse({ site_key, site_secret: `the secret of ${site_key}`, postback: { url, method } });
const sites = [
  siteAt('get', 'https://get.example/cb?who={user_id}&sig={signature}&fixed=1'),
  siteAt('post', 'http://post.example:8443/hook', 'POST'),
];

/** A receiver of these sites, and a sender that guards addresses as any but for what is a demo's. */
async function demo() {
  const told: string[] = [];
  const logger = createLogger({ write: (line: string) => told.push((JSON.parse(line) as { msg: string }).msg) > 0 });
  const receiver = await startPostbackReceiver(() => sites, logger);
  const sender = createSender({ allowPrivate: false, exampleReceiverPort: receiver.port });
  onTestFinished(async () => {
    await sender.close();
    await receiver.close();
  });
  const send = async (site: Site, postback: Partial<Postback> = {}) => {
    const request = postbackRequest(site, { ...credit, siteKey: site.site_key, ...postback }, Date.now());
    const { status, error } = await sender.send(request);
    return status ?? error;
  };
  return { receiver, send, told };
}
const [get, post] = sites as [Site, Site];

it('counts each reward once by user, exactly, whether it came by GET or POST', async () => {
  const { receiver, send, told } = await demo();
  expect(await send(get)).toBe(200);
  expect(await send(get)).toBe(200);
  expect(await send(get, { webhookId: 'wh_2', reward: '0.2' })).toBe(200);
  expect(await send(post, { webhookId: 'wh_3', reward: '1000.0001' })).toBe(200);
  expect(await send(post, { webhookId: 'wh_4', event: 'chargeback' })).toBe(200);
  expect(await send(post, { webhookId: 'wh_5', event: 'reject' })).toBe(200);
  expect(receiver.counts()).toEqual({ rewards: 3, chargebacks: 1, rejects: 1, users: 2, refused: 0 });
  expect(receiver.creditedTo('get', credit.userId)).toBe('0.3');
  expect(receiver.creditedTo('post', credit.userId)).toBe('1000.0001');
  expect(receiver.creditedTo('post', 'nobody')).toBe('0');
  await receiver.close();
  expect(told.at(-1)).toBe("3 rewards received by the demo's publishers");
});

it('refuses what is not signed with the secret of the site that it names', async () => {
  const { receiver, send } = await demo();
  expect(await send({ ...get, site_secret: 'another secret' })).toBe(401);
  expect(await send({ ...post, site_secret: 'another secret' })).toBe(401);
  expect(await send(get, { siteKey: 'post' })).toBe(401);
  expect(await send(siteAt('stranger', 'https://stranger.example/'))).toBe(401);
  const body = await fetch(`http://127.0.0.1:${receiver.port}/hook`, { method: 'POST', body: 'x'.repeat(100_000) });
  expect(body.status).toBe(413);
  expect(receiver.counts()).toEqual({ rewards: 0, chargebacks: 0, rejects: 0, users: 0, refused: 4 });
});

it('takes nothing from the guard: loopback and other reserved names are refused as ever, also the receiver’s own port', async () => {
  const { receiver, send } = await demo();
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', 'example', 'a.test', 'a.example.localhost'])
    expect(await send(siteAt('get', `http://${host}:${receiver.port}/`)), host).toBe('refused_address');
  expect(receiver.counts().refused).toBe(0);

  const sender = createSender({ allowPrivate: false });
  onTestFinished(() => sender.close());
  expect(await sender.send(postbackRequest(get, credit, Date.now()))).toMatchObject({ error: 'refused_address' });
});

it('is for the sites of a demo alone', () => {
  expect(publisherSites(1, 8).filter(isDemoSite).length).toBeGreaterThan(2);
  expect(isDemoSite(siteAt('a', 'https://partner.com/x.example'))).toBe(false);
  expect(isDemoSite(siteSchema.parse({ site_key: 'a', site_secret: 'none' }))).toBe(false);
  expect(receiverPort({ OFFERLINE_DEMO_RECEIVER_PORT: '8083' })).toBe(8083);
  for (const text of ['', '0', '70000', 'x', '80.5'])
    expect(receiverPort({ OFFERLINE_DEMO_RECEIVER_PORT: text }), text).toBeUndefined();
});
