import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { endOf } from '../../support/commands.ts';
import { HandlerUnderTest, token } from './handler-under-test.ts';
import { publishedNetwork, TrackedNetwork } from './tracked-network.ts';
import { slow } from '../../support/slow.ts';

it('`sources list` and `sources check` show how a source reports, without a request', async () => {
  const south = { source: 'south', postback: { signature: { scheme: 'ayet', secret: { env: 'NO_SUCH_KEY' } } } };
  await using test = await HandlerUnderTest.create({ source: { postback: { token } } });
  const north = { source: 'north', postback: { token, allow: ['203.0.113.0/24'] } };
  const silent = { source: 'silent' };
  await writeFile(test.data.sourcesFile, JSON.stringify({ sources: [north, south, silent] }), { mode: 0o600 });
  const listed = await endOf(test.data.root, 'sources', 'list', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject({
    sources: [
      { source: 'north', connector: null, postback: 'token, addresses' },
      { source: 'south', connector: null, postback: 'signature (ayet)' },
      { source: 'silent', connector: null, postback: null },
    ],
  });
  const checked = await endOf(test.data.root, 'sources', 'check', '--json');
  expect(checked.code).toBe(0);
  expect(JSON.parse(checked.stdout)).toEqual({
    sources: [
      { source: 'north', postback: 'token, addresses', error: null },
      { source: 'south', error: expect.stringContaining('the environment has no NO_SUCH_KEY') },
    ],
  });
  expect(process.exitCode).toBe(1);
  process.exitCode = 0;
  expect((await endOf(test.data.root, 'sources', 'check', 'north')).stdout).toContain('token, addresses');
  expect((await endOf(test.data.root, 'sources', 'check', 'silent')).stderr).toContain('has no source silent to ask');
  expect(checked.stdout + checked.stderr + listed.stdout + listed.stderr).not.toContain(token);
});

it('`track replay` submits what was refused to the tracker that runs', slow, async () => {
  await using pipeline = await publishedNetwork();
  await using network = await TrackedNetwork.create(pipeline);
  const { root } = network.pipeline.data;
  const click_id = await network.click(2, 'u1');
  expect(await network.report({ click_id, event_id: 'later', transaction_id: 'T1' })).toEqual([422, 'unknown_event']);
  expect(await network.report({ click_id: 'nobody' })).toEqual([404, 'unknown_click']);
  const southern = { token: 'a-token-that-south-keeps', click_id: 'nobody' };
  expect(await network.report(southern, 'south')).toEqual([404, 'unknown_click']);
  // Kept, it is longer than a report may be.
  const long = await fetch(`${network.address}/postback/north?token=${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `click_id=${click_id}&event_id=later&transaction_id=T2&note=${'"'.repeat(16_000)}`,
  });
  expect(await long.json()).toMatchObject({ error: 'unknown_event' });
  // Whose report is kept is written behind its answer.
  await network.tracker.close();
  expect((await endOf(root, 'track', 'replay')).stderr).toContain('start it with `offerline track`');
  const offer = { external_id: 'many', id: 2, title: 'Many', destination_url: 'https://adv.example/?c={click_id}' };
  await network.pipeline.landOffers('north', [
    { ...offer, events: [{ event_id: 'later', description: 'Later', payout: '1' }] },
  ]);
  network.now += 60_000;
  await network.pipeline.refresh(new Date(network.now).toISOString());
  // One that reports no more holds nobody up.
  await writeFile(
    network.pipeline.data.sourcesFile,
    JSON.stringify({ sources: [{ source: 'north', postback: { token } }] }),
  );
  await network.start();
  expect((await endOf(root, 'track', 'replay', '--dry-run')).stderr).toContain('1 of south are left where they are');
  const replay = async (...words: string[]) =>
    JSON.parse((await endOf(root, 'track', 'replay', '--json', '--since', '2026-11-18', ...words)).stdout) as object;
  expect(await replay('--dry-run')).toEqual({
    replayed: [
      { source: 'north', reason: 'unknown_event', reports: 2 },
      { source: 'north', reason: 'unknown_click', reports: 1 },
    ],
  });
  const counts = { recorded: 0, duplicate: 0, refused: 0, passed_over: 0 };
  expect(await replay()).toEqual({
    replayed: [
      { source: 'north', reason: 'unknown_event', reports: 2, ...counts, recorded: 2 },
      { source: 'north', reason: 'unknown_click', reports: 1, ...counts, refused: 1 },
    ],
  });
  expect(await replay()).toMatchObject({ replayed: [{ duplicate: 2 }, { refused: 1 }] });
  await network.land();
  expect(await network.pipeline.ask('SELECT conversion_id, status FROM conversions ORDER BY conversion_id')).toEqual([
    { conversion_id: 'north:T1', status: 'credited' },
    { conversion_id: 'north:T2', status: 'credited' },
  ]);
});
