import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startListening, type ListeningProcess } from '../support/listening-process.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../support/published-snapshot.ts';
import { slow } from '../support/slow.ts';

const secret = 'a-long-enough-secret';
const sites = [
  { site_key: 'wall', site_secret: secret, variant: 'A' },
  { site_key: 'list', site_secret: secret, variant: 'C', rate_limit_per_hour: 1_000_000 },
];

/** Resident memory that the service may have taken at its peak: 5,000 offers take half of it by themselves. */
const mostMegabytes = 400;

/** `serve` as a process of its own over a catalog of 5,000 offers, whose page for one user has some 4 MB. */
async function serving(): Promise<ListeningProcess & { host: string; port: number }> {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeSites(data, sites);
  const offers = Array.from({ length: 5000 }, (_, place) =>
    feedOffer({ id: place + 1, descriptions: { en: `What to do for ${place + 1}. `.repeat(12) } }),
  );
  await writeSnapshot(data, 'one', { offers });
  await makeCurrent(data, 'one');
  const serve = await startListening(data.root, 'serve');
  onTestFinished(() => serve.end('SIGKILL'));
  const { hostname: host, port } = new URL(serve.address);
  return { ...serve, host, port: Number(port) };
}

/** 590 requests for the pages of as many users: 49 kB. */
function pipelined(from: number): string {
  return Array.from(
    { length: 590 },
    (_, place) =>
      `GET /a/api/offers?site_key=wall&user_id=${from + place}&format=offerwall HTTP/1.1\r\nHost: x\r\n\r\n`,
  ).join('');
}

test.runIf(process.platform === 'linux')(
  'clients that ask for all and read nothing cost little memory and hold nobody up',
  slow,
  async () => {
    const { host, port, address, peakMegabytes } = await serving();
    let written = 0;
    for (const connections of [1, 300]) {
      for (let place = 0; place < connections; place++) {
        const socket = connect(port, host)
          .on('error', () => undefined)
          .pause();
        onTestFinished(() => void socket.destroy());
        socket.write(pipelined(590 * written++));
      }
      for (let asked = 0; asked < 40; asked++) {
        const list = await fetch(`${address}/c/api/v1/offers?site_key=list&site_secret=${secret}&offset=${asked}`, {
          headers: { 'accept-encoding': 'identity' },
        });
        expect(list.status).toBe(200);
        expect(((await list.json()) as { total: number }).total).toBe(5000);
      }
      expect(peakMegabytes(), `megabytes at the peak, with ${connections} connections`).toBeLessThan(mostMegabytes);
    }
  },
);
