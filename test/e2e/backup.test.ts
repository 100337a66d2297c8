import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { offerline } from '../support/command-line.ts';
import { endOf } from '../support/commands.ts';
import { startListening } from '../support/listening-process.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { slow } from '../support/slow.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A publisher that holds an answer back while it is asked to. */
async function publisher() {
  const ids: string[] = [];
  const held: ServerResponse[] = [];
  let isHolding = false;
  let arrived = () => {};
  const server = createServer((request, response) => {
    ids.push(String(request.headers['webhook-id']));
    if (isHolding) held.push(response);
    else response.end('ok');
    arrived();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ids,
    /** From now on. Resolves when a request has come and has no answer. */
    hold: () => new Promise<void>((resolve) => ((isHolding = true), (arrived = resolve))),
    letGo: () => {
      isHolding = false;
      for (const response of held.splice(0)) response.end('ok');
    },
  };
}

/** Follows a link, and gives the click's id. */
async function click(tracker: string, user: string): Promise<string> {
  const answer = await fetch(`${tracker}/redirect/manual-offer/1/user/${user}/site/site`, {
    redirect: 'manual',
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  });
  expect(answer.status).toBe(302);
  return new URL(answer.headers.get('location') as string).searchParams.get('c') as string;
}

test('a backup under load loses no answered click and no reported conversion', slow, async () => {
  vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '1');
  const { address, ids, hold, letGo } = await publisher();
  const token = 'a-token-of-the-source-0123456789';
  const pipeline = await PipelineUnderTest.create(new Date(), {
    sites: [{ site_key: 'site', site_secret: 'a secret of the backup’s test', postback: { url: `${address}/cb` } }],
  });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  const { root } = pipeline.data;
  await pipeline.landOffers('net', [
    { id: 1, external_id: 'one', title: 'One', payout: '1.5', destination_url: 'https://one.example/?c={click_id}' },
  ]);
  await writeFile(pipeline.data.sourcesFile, JSON.stringify({ sources: [{ source: 'net', postback: { token } }] }), {
    mode: 0o600,
  });
  expect(await endOf(root, 'run', 'refresh')).toMatchObject({ code: 0 });
  const tracker = await startListening(root, 'track');
  onTestFinished(() => tracker.end('SIGKILL'));
  const report = async (where: string, id: string) =>
    (await (
      await fetch(`${where}/postback/net?token=${token}&click_id=${id}&transaction_id=t-${id}`)
    ).json()) as object;

  const first = await click(tracker.address, 'u1');
  expect(await report(tracker.address, first)).toMatchObject({ status: 'recorded' });
  // The tracker's logs are not handed over yet; its stop does that.
  await tracker.end('SIGTERM');
  const again = await startListening(root, 'track');
  onTestFinished(() => again.end('SIGKILL'));
  // The pass at the end of the refresh is under way while the backup is taken: its request has no answer.
  const pending = hold();
  const refresh = offerline(root, 'run', 'refresh');
  await pending;
  expect(ids).toHaveLength(1);
  const second = await click(again.address, 'u2');
  expect(await report(again.address, second)).toMatchObject({ status: 'recorded' });

  const folder = await mkdtemp(join(tmpdir(), 'offerline-backup-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const place = join(folder, 'network.tar');
  const written = await endOf(root, 'backup', place);
  expect(written.code, written.stderr).toBe(0);
  letGo();
  expect((await refresh).code).toBe(0);
  expect(ids).toHaveLength(1);
  // After the moment of the backup: this click is in the landing folder of the first machine alone.
  const third = await click(again.address, 'u3');
  await again.end('SIGTERM');

  const other = await PipelineUnderTest.bare(new Date());
  onTestFinished(() => other[Symbol.asyncDispose]());
  expect(await endOf('nowhere', 'restore', place, '--into', other.data.root)).toMatchObject({ code: 0 });
  const status = await endOf(other.data.root, 'status');
  expect(status.code, status.stdout).toBe(0);
  const refreshed = await endOf(other.data.root, 'run', 'refresh');
  expect(refreshed.code, refreshed.stderr).toBe(0);
  const clicks = async () =>
    (await other.ask<{ click_id: string }>('SELECT click_id FROM clicks')).map(({ click_id }) => click_id).toSorted();
  expect(await clicks()).toEqual([first, second].toSorted());
  // The one that had no answer at the moment of the backup was sent once more, under its id.
  expect([ids.length, new Set(ids).size]).toEqual([3, 2]);

  await cp(pipeline.data.landing, other.data.landing, { recursive: true, preserveTimestamps: true, force: false });
  expect(await endOf(other.data.root, 'run', 'refresh')).toMatchObject({ code: 0 });
  expect(await clicks()).toEqual([first, second, third].toSorted());
  expect([ids.length, new Set(ids).size]).toEqual([3, 2]);

  // Its tracker knows the keys and the reports of the first one.
  const theirs = await startListening(other.data.root, 'track');
  onTestFinished(() => theirs.end('SIGKILL'));
  expect(await report(theirs.address, first)).toMatchObject({ status: 'duplicate' });
  expect(await report(theirs.address, third)).toMatchObject({ status: 'recorded' });
});
