import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLookup, type Lookup, type LookupOptions } from '../../../src/kit/guard/name-lookup.ts';
import { createSender } from '../../../src/postbacks/http/sender.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { nameServer } from './name-server.ts';

const ipv6 = '2606:4700:4700:0:0:0:0:1111';

/** The system's look-up, which answers when the test says so; `asked` are its names in order. */
function systemForTest() {
  const asked: string[] = [];
  const waiting: Parameters<Lookup>[2][] = [];
  const system: Lookup = (name, _options, callback) => {
    asked.push(name);
    waiting.push(callback);
  };
  return { system, asked, answer: (...found: LookupAddress[]) => waiting.shift()?.(null, found) };
}

function lookupForTest(options: LookupOptions): (name: string) => Promise<string[]> {
  const lookup = createLookup({ hostsFile: '/nowhere', ...options });
  return (name) =>
    new Promise((resolve, reject) => {
      lookup(name, { all: true }, (error, addresses) =>
        error === null ? resolve(addresses.map(({ address }) => address)) : reject(error),
      );
    });
}

it('names that hang delay no other name, however many they are', async () => {
  const receiver = createServer((_request, response) => response.end());
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const { port } = receiver.address() as AddressInfo;
  const hanging = Array.from({ length: 20 }, (_, index) => `hangs-${index}.partner.com`);
  const zone = Object.fromEntries(hanging.map((name) => [name, { 4: 'hang', 6: 'hang' } as const]));
  const { servers, asked } = await nameServer({ ...zone, 'well.partner.com': { 4: ['127.0.0.1'] } });
  const { system, asked: askedOfSystem } = systemForTest();
  const lookup = createLookup({ servers, system, hostsFile: '/nowhere', maxWait: 700 });
  const sender = createSender({ allowPrivate: true, lookup });
  const send = (name: string) => sender.send({ method: 'GET', url: `http://${name}:${port}/`, headers: {} });
  const hung = hanging.map(send);
  await vi.waitFor(() => expect(new Set(asked).size).toBe(hanging.length));
  expect(await send('well.partner.com')).toMatchObject({ status: 200 });
  expect((await Promise.all(hung)).map(({ error }) => error)).toEqual(hanging.map(() => 'dns'));
  expect(askedOfSystem).toEqual([]);
  await sender.close();
});

it('a name has its addresses of both families', async () => {
  const { servers } = await nameServer({
    'both.com': { 4: ['8.8.8.8', '1.1.1.1'], 6: [ipv6] },
    'six.com': { 6: [ipv6] },
  });
  const lookup = lookupForTest({ servers });
  expect((await lookup('both.com')).toSorted()).toEqual(['1.1.1.1', '2606:4700:4700::1111', '8.8.8.8']);
  expect(await lookup('six.com')).toEqual(['2606:4700:4700::1111']);
});

it('a name server that never answers for IPv6 costs a moment, one that never answers an error', async () => {
  const { servers } = await nameServer({ 'four.com': { 4: ['8.8.8.8'], 6: 'hang' }, 'none.com': { 4: 'hang', 6: [] } });
  const lookup = lookupForTest({ servers, maxWait: 100, otherFamilyWait: 10, system: systemForTest().system });
  expect(await lookup('four.com')).toEqual(['8.8.8.8']);
  await expect(lookup('none.com')).rejects.toMatchObject({ code: 'ECANCELLED' });
});

it('the system is asked for names of the hosts file and of the network, and what no server knows', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const hostsFile = join(data.root, 'hosts');
  await writeFile(
    hostsFile,
    '127.0.0.1 localhost\n10.0.0.1\tPinned.com other.com # pinned.net\n#10.0.0.2 remark.com\n',
  );
  const known = Object.fromEntries(
    ['pinned.com', 'pinned.net', 'remark.com'].map((name) => [name, { 4: ['8.8.8.8'] }]),
  );
  const { servers } = await nameServer({ ...known, 'empty.com': {} });
  const { system, asked, answer } = systemForTest();
  const lookup = lookupForTest({ servers, system, hostsFile });
  for (const name of ['pinned.com', 'PINNED.com.', 'receiver', 'printer.local', 'svc.cluster', 'empty.com']) {
    asked.length = 0;
    const found = lookup(name);
    await vi.waitFor(() => expect(asked).toEqual([name]));
    answer({ address: '10.0.0.1', family: 4 });
    expect(await found).toEqual(['10.0.0.1']);
  }
  asked.length = 0;
  expect(await Promise.all(['pinned.net', 'remark.com'].map(lookup))).toEqual([['8.8.8.8'], ['8.8.8.8']]);
  expect(asked).toEqual([]);
});

it('the system is asked for few names at a time, of which none delays those that a server knows', async () => {
  const { servers } = await nameServer({ 'well.com': { 4: ['8.8.8.8'] } });
  const { system, asked, answer } = systemForTest();
  const lookup = lookupForTest({ servers, system });
  const names = ['a.gone', 'b.gone', 'c.gone', 'one', 'two', 'three'];
  const found = names.map(lookup);
  await vi.waitFor(() => expect(asked).toHaveLength(3));
  expect(await lookup('well.com')).toEqual(['8.8.8.8']);
  expect(asked.toSorted()).toEqual([expect.stringMatching(/gone$/), 'one', 'two']);
  for (let answered = 0; answered < names.length; answered++) {
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(answered));
    answer({ address: '10.0.0.1', family: 4 });
  }
  expect(await Promise.all(found)).toEqual(names.map(() => ['10.0.0.1']));
});
