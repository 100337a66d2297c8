import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';

test('a page arrives whole, however slowly its client reads and whatever is answered meanwhile', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret', rate_limit_per_hour: 1_000_000 }]);
  const ids = Array.from({ length: 300 }, (_, place) => place + 1);
  await writeSnapshot(data, 'one', {
    offers: ids.map((id) => feedOffer({ id, descriptions: { en: descriptionOf(id) } })),
  });
  await makeCurrent(data, 'one');
  const running = await serviceForTest(data);
  const request = (offset: number, limit: number) =>
    `GET /c/api/v1/offers?site_key=s&site_secret=a-long-enough-secret&offset=${offset}&limit=${limit} HTTP/1.1\r\nHost: s\r\n\r\n`;

  // Asked for one after the other on a connection that nobody reads yet: what its buffers do not hold waits in the
  // service's memory.
  const slow = connectionTo(running.address);
  slow.pause();
  const offsets = ids.slice(0, 250);
  slow.write(offsets.map((offset) => request(offset, 30)).join(''));
  const quick = connectionTo(running.address);
  const others = answersIn(quick);
  for (const offset of offsets) {
    quick.write(request(offset, 20));
    expect(idsOf(await nextOf(others))).toEqual(ids.slice(offset, offset + 20));
  }

  const received = answersIn(slow);
  for (const offset of offsets) {
    const document = await nextOf(received);
    expect(idsOf(document)).toEqual(ids.slice(offset, offset + 30));
    for (const { id, description } of document.offers)
      expect(description === descriptionOf(id), `the description of ${id}`).toBe(true);
  }
});

test('a page is the same, tag included, when it is made and when it comes out of what was kept', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret', rate_limit_per_hour: 1_000_000 }]);
  await writeSnapshot(data, 'one', {
    offers: [1, 2, 3].map((id) => feedOffer({ id, titles: { en: `Offer ${id} – 漢字` } })),
  });
  await makeCurrent(data, 'one');
  const running = await serviceForTest(data);
  const seen = new Set<string>();
  for (let time = 0; time < 4; time++) {
    for (const encoding of ['identity', 'gzip', 'br']) {
      const answer = await fetch(`${running.address}/b/api/v1/offers?site_key=s&site_secret=a-long-enough-secret`, {
        headers: { 'accept-encoding': encoding },
      });
      seen.add(`${encoding} ${answer.headers.get('etag')} ${await answer.text()}`);
    }
  }
  expect(seen.size).toBe(3);
});

interface Offers {
  offers: { id: number; description: string }[];
}

function descriptionOf(id: number): string {
  return `${id}.`.repeat(1000);
}

function idsOf({ offers }: Offers): number[] {
  return offers.map(({ id }) => id);
}

function connectionTo(address: string): Socket {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  return socket;
}

async function nextOf(answers: AsyncGenerator<string>): Promise<Offers> {
  return JSON.parse(String((await answers.next()).value)) as Offers;
}

/** The bodies of the answers on a connection. */
async function* answersIn(socket: Socket): AsyncGenerator<string> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(bytes.toString('latin1', 0, Math.max(end, 0)))?.[1]);
      if (end === -1 || bytes.length < end + 4 + length) break;
      yield bytes.toString('utf8', end + 4, end + 4 + length);
      bytes = bytes.subarray(end + 4 + length);
    }
  }
}
