import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { command } from '../support/commands.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

const asOf = '2025-03-10T12:00:00Z';
/** What a file of UTF-8 may begin with, at the beginning of an id: no part of it that anybody may drop. */
const user = '\ufeffanna';

test('a user id that begins like a file is the same in the postback, in answers and in exports', async () => {
  const told: (string | null)[] = [];
  const publisher = createServer((request, response) => {
    told.push(new URL(request.url ?? '', 'http://publisher').searchParams.get('who'));
    response.writeHead(200).end();
  });
  await new Promise<void>((listening) => publisher.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void publisher.close());
  vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const url = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/?who={user_id}`;
  await using pipeline = await PipelineUnderTest.create(new Date(asOf), {
    sites: [{ site_key: 's', site_secret: 'a secret of the marks’ test', postback: { url } }],
  });
  const { root } = pipeline.data;
  const time = '2025-03-10T09:00:00Z';
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1.5' }]);
  await pipeline.landLog('clicks', 'ndjson', [
    { click_id: 'c', offer_id: 1, site_key: 's', user_id: user, clicked_at: time },
  ]);
  await pipeline.landLog('conversions', 'ndjson', [
    { conversion_id: 'v', click_id: 'c', kind: 'credit', occurred_at: time },
  ]);
  await pipeline.refresh(asOf);
  await command(root, 'postbacks', 'deliver');

  expect(told).toEqual([user]);
  const ask = (format: string) => command(root, 'sql', 'SELECT 1 AS n, user_id FROM clicks', '--format', format);
  expect(JSON.parse(await ask('json'))).toMatchObject({ rows: [{ n: 1, user_id: user }] });
  expect(await ask('csv')).toBe(`n,user_id\n1,${user}\n`);
  const file = join(root, 'clicks.csv');
  await command(root, 'export', 'clicks', '--format', 'csv', '--out', file);
  expect(await readFile(file, 'utf8')).toContain(`,${user},`);
  const listed = JSON.parse(await command(root, 'postbacks', 'list', '--json'));
  expect(listed).toMatchObject({ postbacks: [{ user_id: user }] });
  const shown = await command(root, 'postbacks', 'show', listed.postbacks[0].webhook_id, '--json');
  expect(JSON.parse(shown)).toMatchObject({ postbacks: [{ user_id: user }] });
});
