import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isPublicAddress } from '../../../src/kit/guard/address-guard.ts';
import type { Lookup } from '../../../src/kit/guard/name-lookup.ts';
import { createSender } from '../../../src/postbacks/http/sender.ts';
import type { SenderOptions } from '../../../src/postbacks/http/sender.ts';

function senderForTest(options: Partial<SenderOptions> = {}) {
  const sender = createSender({ allowPrivate: false, deadlineMilliseconds: 2000, ...options });
  onTestFinished(() => sender.close());
  return (url: string) => sender.send({ method: 'GET', url, headers: {} });
}

/** A receiver at every address of this machine, which counts the requests that reached it. */
async function localReceiver() {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.url ?? '');
    response.end();
  });
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => void server.listen(0, () => resolve()));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, received, connections: () => connections };
}

function answers(...addresses: string[]): Lookup {
  return (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
}

describe('addresses', () => {
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '1.2.3',
    '8.8.2056',
    '010.8.8.8',
    '8.8.8.8 ',
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '198.20.0.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
    '2001:4860:4860::8888',
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
});

describe('a postback', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0x7F.0x0.0x0.0x1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
    '１２７.０.０.１',
    '127。0。0。1',
    '①②⑦.0.0.1',
    '%31%32%37.0.0.1',
    '127.0.0.%31',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    'localhost',
    'LOCALHOST',
  ])('to %s never leaves', async (host) => {
    const receiver = await localReceiver();
    const send = senderForTest();
    const outcome = await send(`http://${host}:${receiver.port}/`);
    expect(outcome).toMatchObject({ status: null, error: 'refused_address', retryAfterSeconds: null });
    expect(receiver.connections()).toBe(0);
  });

  it.each([
    [['127.0.0.1'], '127.0.0.1, an address of the range loopback'],
    [['8.8.8.8', '10.0.0.1'], '10.0.0.1, an address of the range private'],
    [['2606:4700:4700::1111', '::ffff:127.0.0.1'], '::ffff:127.0.0.1, an address of the range ipv4-mapped'],
    [['fe80::1', '8.8.8.8'], 'fe80::1, an address of the range link-local'],
  ])('to a name with the addresses %j never leaves', async (addresses, named) => {
    const receiver = await localReceiver();
    const send = senderForTest({ lookup: answers(...addresses) });
    for (const scheme of ['http', 'https'])
      expect(await send(`${scheme}://partner.com:${receiver.port}/`)).toMatchObject({
        status: null,
        error: 'refused_address',
        detail: `partner.com is at ${named}`,
      });
    expect(receiver.connections()).toBe(0);
  });

  it.each([
    'shop.example',
    'EXAMPLE',
    'a.test',
    'nowhere.invalid',
    'printer.local',
    'app.localhost',
    'wiki.internal.',
    'nas.home.arpa',
    'x.onion',
  ])('to the reserved name %s is not even looked up', async (host) => {
    const send = senderForTest({ lookup: () => expect.unreachable('looked up') });
    expect(await send(`https://${host}/cb`)).toMatchObject({ status: null, error: 'refused_address' });
  });

  it('to a name that only sounds like a reserved one is looked up', async () => {
    const send = senderForTest({
      lookup: (_hostname, _options, callback) =>
        callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []),
    });
    for (const host of ['example.com', 'latest.com', 'test.org', 'mylocal'])
      expect(await send(`https://${host}/cb`), host).toMatchObject({ error: 'dns' });
  });

  it.each(['http', 'https'])(
    'by %s that reached another address than the one that was looked up is not sent',
    async (scheme) => {
      const receiver = await localReceiver();
      // Public while it is looked at, and of this machine when the connection is made.
      const shifting: LookupAddress = { address: '8.8.8.8', family: 4 };
      let looked = 0;
      Object.defineProperty(shifting, 'address', { get: () => (looked++ === 0 ? '8.8.8.8' : '127.0.0.1') });
      const send = senderForTest({ lookup: (_hostname, _options, callback) => callback(null, [shifting]) });
      expect(await send(`${scheme}://partner.com:${receiver.port}/`)).toMatchObject({
        status: null,
        error: 'refused_address',
      });
      expect(looked).toBeGreaterThan(1);
      expect(receiver.received).toEqual([]);
    },
  );

  it('may go to private addresses where that is allowed, and to any port', async () => {
    const receiver = await localReceiver();
    const send = senderForTest({ allowPrivate: true });
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost'])
      expect(await send(`http://${host}:${receiver.port}/cb?a=1`)).toMatchObject({ status: 200, error: null });
    expect(receiver.received).toEqual(Array.from({ length: 4 }, () => '/cb?a=1'));
  });

  it('is refused with a user name or password in its address, also where private addresses are allowed', async () => {
    const receiver = await localReceiver();
    const send = senderForTest({ allowPrivate: true });
    for (const userinfo of ['user:hidden', 'user', ':hidden']) {
      const outcome = await send(`http://${userinfo}@127.0.0.1:${receiver.port}/`);
      expect(outcome).toMatchObject({ status: null, error: 'refused_address', host: `127.0.0.1:${receiver.port}` });
    }
    expect(receiver.connections()).toBe(0);
  });

  it('to what is no address of http or https is not sent', async () => {
    const send = senderForTest({ allowPrivate: true });
    for (const url of [
      'ftp://partner.example/',
      'partner.example/cb',
      'http://',
      'http://a b/',
      'https://1.2.3.4.5/',
      'http://a.example\\@b.example/',
      'http://a.example#/',
      'http://a.example/a b',
    ]) {
      expect(await send(url), url).toMatchObject({ status: null, error: 'unsendable' });
    }
  });
});
