import { createHmac } from 'node:crypto';
import { rename, symlink } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { TrackedNetwork, begin, publishedNetwork } from './tracked-network.ts';
import { slow } from '../../support/slow.ts';

const published = sharedPipeline(publishedNetwork);

it('what is recorded over sockets is a row that the pipeline accepts, and nothing else is', slow, async () => {
  await using network = await TrackedNetwork.create(await published());
  const ids = [await network.click(1, 'u1'), await network.click(1, 'u2'), await network.click(2, 'u3')];
  const [one = '', two = '', many = ''] = ids;
  network.now = begin + 60_000;
  const said = {
    twenty: await Promise.all(
      Array.from({ length: 20 }, () => network.report({ click_id: one, transaction_id: 'T1', payout: '2.500001' })),
    ),
    rejectFirst: await network.report({
      click_id: two,
      transaction_id: 'T2',
      status: 'reject',
      reason: 'a "quoted" \\ reason, 😀',
    }),
    creditAfter: await network.report({ click_id: two.toUpperCase(), transaction_id: 'T2' }),
    milestone: await network.report({ click_id: many, event_id: 'Stufe №5', payout: '1.50', currency: 'EUR' }),
    install: await network.report({
      click_id: many,
      event_id: 'install',
      occurred_at: '2026-11-18 11:00:30.1234567+01:00',
    }),
    longId: await network.report({ click_id: many, event_id: 'install', transaction_id: 'x'.repeat(200), payout: '0' }),
    notAscii: await network.report({ click_id: one, transaction_id: 'Straße 1', payout: '25' }),
    imported: await network.report({ click_id: 'IMPORTED-1', transaction_id: 'T8' }),
    importedByName: await network.report({ click_id: 'IMPORTED-2', transaction_id: 'T9', event_id: 'install' }),
    importedForeign: await network.report({ click_id: 'IMPORTED-3', transaction_id: 'T10' }),
    importedInCapitals: await network.report({ click_id: 'imported-1', transaction_id: 'T11' }),
    foreign: await network.report({ click_id: one, token: 'a-token-that-south-keeps' }, 'south'),
    foreignToken: await network.report({ click_id: one }, 'south'),
    tampered: await network.report({ click_id: one.replace(/^./, 'z') }),
    exponent: await network.report({ click_id: one, transaction_id: 'T12', payout: '1e3' }),
    negative: await network.report({ click_id: one, transaction_id: 'T13', payout: '-1' }),
    macro: await network.report({ click_id: one, transaction_id: 'T14', payout: '{payout}' }),
    other: await network.report({ click_id: one, transaction_id: 'T1', payout: '2' }),
    chargeback: await network.report({ click_id: one, transaction_id: 'T1', status: 'chargeback' }),
  };
  expect(said.twenty.filter(([, word]) => word === 'recorded')).toHaveLength(1);
  expect(said.twenty.filter(([, word]) => word === 'duplicate')).toHaveLength(19);
  expect({ ...said, twenty: undefined }).toEqual({
    rejectFirst: [200, 'recorded'],
    creditAfter: [200, 'recorded'],
    milestone: [200, 'recorded'],
    install: [200, 'recorded'],
    longId: [200, 'recorded'],
    notAscii: [200, 'recorded'],
    imported: [200, 'recorded'],
    importedByName: [200, 'recorded'],
    importedForeign: [403, 'foreign_click'],
    importedInCapitals: [404, 'unknown_click'],
    foreign: [403, 'foreign_click'],
    foreignToken: [401, 'unauthorized'],
    tampered: [404, 'unknown_click'],
    exponent: [400, 'invalid_parameter'],
    negative: [400, 'invalid_parameter'],
    macro: [400, 'invalid_parameter'],
    other: [409, 'contradiction'],
    chargeback: [200, 'recorded'],
  });
  await network.land();
  const files = await network.pipeline.ask(
    `SELECT kind, sum(rows)::INTEGER AS rows, sum(accepted)::INTEGER AS accepted, sum(warnings)::INTEGER AS warnings
     FROM ingest_files WHERE path LIKE '%/tracker/%' GROUP BY kind ORDER BY kind`,
  );
  expect(files).toEqual([
    { kind: 'clicks', rows: 3, accepted: 3, warnings: 0 },
    { kind: 'conversions', rows: 10, accepted: 10, warnings: 0 },
  ]);
  const conversions = await network.pipeline.ask(
    `SELECT status, offer_id, user_id, event_id, payout::VARCHAR AS payout, count(*)::INTEGER AS conversions
     FROM conversions GROUP BY ALL ORDER BY ALL`,
  );
  const of = (status: string, offer_id: number, user_id: string, event_id: string | null, payout: string) => ({
    status,
    offer_id,
    user_id,
    event_id,
    payout,
    conversions: 1,
  });
  expect(conversions).toEqual([
    of('charged_back', 1, 'u1', null, '2.500001'),
    of('credited', 1, 'u1', null, '25.000000'),
    of('credited', 1, 'u9', null, '2.500000'),
    of('credited', 2, 'u3', 'Stufe №5', '1.650000'),
    of('credited', 2, 'u3', 'install', '0.000000'),
    of('credited', 2, 'u3', 'install', '0.400000'),
    of('credited', 2, 'u9', 'install', '0.400000'),
    of('rejected', 1, 'u2', null, '2.500000'),
  ]);
});

it.each([
  ['is not there', () => Promise.resolve()],
  ['leads nowhere', (current: string) => symlink('nowhere', current)],
])(
  'a conversion of an imported click fills the daily cap, after a restart while the snapshot %s, too',
  slow,
  async (_, put) => {
    await using network = await TrackedNetwork.create(await published());
    await network.pipeline.landOffers('north', [
      { external_id: 'one', id: 1, title: 'One', payout: '2.5', destination_url: 'https://adv.example/', daily_cap: 1 },
    ]);
    await network.pipeline.refresh('2026-11-18T10:01:00Z');
    await network.tracker.poll();
    expect(await network.report({ click_id: 'IMPORTED-1' })).toEqual([200, 'recorded']);
    await expect(network.click(1, 'u1')).rejects.toThrow('403');
    await network.tracker.close();
    // Where they cannot be looked up at first, they are later.
    const { current } = network.pipeline.data;
    await rename(current, `${current}-put-aside`);
    await put(current);
    await network.start();
    await network.click(1, 'u2');
    await rename(`${current}-put-aside`, current);
    await network.tracker.poll();
    // Clicks are looked up beside the work: those that come before are led on.
    let users = 3;
    await vi.waitFor(() => expect(network.click(1, `u${users++}`)).rejects.toThrow('403'), { timeout: 20_000 });
  },
);

it('a click that came in by a file is known once it is published, without a restart', slow, async () => {
  await using network = await TrackedNetwork.create(await published());
  const click = { offer_id: 1, site_key: 'k1', user_id: 'u9', clicked_at: '2026-11-18T09:00:00Z' };
  expect(await network.report({ click_id: 'LATER-1' })).toEqual([404, 'unknown_click']);
  await network.pipeline.landLog('clicks', 'csv', [{ click_id: 'LATER-1', ...click }]);
  await network.pipeline.refresh('2026-11-18T10:05:00Z');
  expect(await network.report({ click_id: 'LATER-1' })).toEqual([200, 'recorded']);
  expect(await network.report({ click_id: 'IMPORTED-1' })).toEqual([200, 'recorded']);
  network.now = Date.parse('2026-12-18T09:00:00Z');
  expect(await network.report({ click_id: 'LATER-1', transaction_id: 'T2' })).toEqual([200, 'recorded']);
  network.now += 1;
  expect(await network.report({ click_id: 'LATER-1', transaction_id: 'T3' })).toEqual([410, 'click_too_old']);
});

it('a signed report that somebody has heard is worth nothing after five minutes', async () => {
  const secret = 'a-secret-of-our-own-scheme';
  await using network = await TrackedNetwork.create(await published(), { signature: { scheme: 'offerline', secret } });
  const text = `click_id=${await network.click(1, 'u1')}&timestamp=${begin / 1000}`;
  const body = `${text}&signature=${createHmac('sha256', secret).update(text).digest('hex')}`;
  const send = async (sent: string, path = '/postback/north') => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await fetch(`${network.address}${path}`, { method: 'POST', headers, body: sent });
    return [answer.status, answer.headers.get('cache-control')];
  };
  expect(await send(body)).toEqual([200, 'no-store']);
  expect(await send(body.replace('click_id=0', 'click_id=1'))).toEqual([401, 'no-store']);
  expect(await send(body, '/postback/south')).toEqual([401, 'no-store']);
  expect(await send(body, '/postback/nobody')).toEqual([401, 'no-store']);
  expect(await send('x'.repeat(16 * 1024 + 1))).toEqual([413, 'no-store']);
  network.now += 300_000;
  expect(await send(body)).toEqual([200, 'no-store']);
  network.now += 1;
  expect(await send(body)).toEqual([401, 'no-store']);
  await network.land();
  expect(await network.pipeline.ask('SELECT status FROM conversions')).toEqual([{ status: 'credited' }]);
});
