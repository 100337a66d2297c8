import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { mirrorPictures } from '../../src/pictures/mirror-pictures.ts';
import { PictureIndex } from '../../src/pictures/picture-index.ts';
import { PictureRequests, type PictureAnswer } from '../../src/pictures/picture-request.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { readPicturesReport } from '../../src/pipeline/status/pictures-status.ts';
import { examinePictures } from '../../src/pipeline/doctor/examine-pictures.ts';
import { command, endOf } from '../support/commands.ts';
import { flipBit } from '../support/published-snapshot.ts';
import { begin, day, MirroredData } from './mirrored-data.ts';
import { picture, PictureServer } from './picture-server.ts';

/** Two pictures, of which one cannot be had. */
async function twoPictures() {
  const server = await PictureServer.start();
  server.paths.set('/good.png', picture('png'));
  const [good, bad] = [server.at('/good.png'), server.at('/bad.png')];
  return { server, good, bad, mirrored: await MirroredData.create(good, bad) };
}

describe('offerline pictures', () => {
  it('reports all outcomes, and succeeds where a picture cannot be fetched', async () => {
    const { server, good, bad, mirrored } = await twoPictures();
    await using _ = server;
    const { code, stdout } = await endOf(mirrored.data.root, 'pictures', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        snapshot_id: 'snapshot-1',
        wanted: 2,
        asked: 2,
        mirrored: 1,
        failed: 1,
        left: 0,
        problems: { http_404: 1 },
        failing: [{ address: bad, error: 'http_404', failures: 1, next_at: expect.stringMatching(/Z$/) as string }],
      },
    ]);
    expect(await mirrored.served(good)).toEqual(picture('png'));
    expect(await command(mirrored.data.root, 'pictures')).toMatch(/^asked +0$[^]*http_404/m);
  });

  it('says how to switch it on where it is off', async () => {
    const { server, mirrored } = await twoPictures();
    await using _ = server;
    await writeFile(mirrored.data.settingsFile, '{}');
    const { code, stderr } = await endOf(mirrored.data.root, 'pictures');
    expect([code, stderr]).toEqual([2, expect.stringContaining('"pictures": true') as string]);
    expect(server.requests).toEqual([]);
  });

  it('fails where the snapshot is damaged, and asks nobody', async () => {
    const { server, mirrored } = await twoPictures();
    await using _ = server;
    await flipBit(join(mirrored.data.current, 'feed-offers.ndjson'));
    expect(await endOf(mirrored.data.root, 'pictures')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SHA-256') as string,
    });
    expect(server.requests).toEqual([]);
    expect(readPicturesReport(mirrored.data, Date.now()).error).toContain('SHA-256');
  });

  it('is planned by the schedule where it is on, and only there', async () => {
    const { server, mirrored } = await twoPictures();
    await using _ = server;
    const planned = async () =>
      (
        JSON.parse(await command(mirrored.data.root, 'schedule', '--dry-run', '--json')) as {
          schedule: { pipeline: string; cron: string }[];
        }
      ).schedule.flatMap(({ pipeline, cron }) => (pipeline === 'pictures' ? [cron] : []));
    expect(await planned()).toEqual(['*/15 * * * *']);
    await writeFile(mirrored.data.settingsFile, '{"pictures": true, "schedule": {"pictures": "7 * * * *"}}');
    expect(await planned()).toEqual(['7 * * * *']);
    await writeFile(mirrored.data.settingsFile, '{"pictures": true, "schedule": {"pictures": null}}');
    expect(await planned()).toEqual([]);
    await writeFile(mirrored.data.settingsFile, '{"schedule": {"pictures": "7 * * * *"}}');
    expect(await planned()).toEqual([]);
  });

  it.for<[what: string, harm: (file: string) => unknown]>([
    ['no database', (file) => writeFile(file, 'no database at all'.repeat(1000))],
    [
      'of another version',
      (file) => {
        using database = new DatabaseSync(file);
        database.exec('PRAGMA user_version = 99; DROP TABLE pictures');
      },
    ],
  ])('an index that is %s keeps neither schedule nor status from working, and is begun anew', async ([, harm]) => {
    const { server, good, mirrored } = await twoPictures();
    await using _ = server;
    await mirrored.mirror();
    await harm(mirrored.data.pictureIndexFile);
    expect(await command(mirrored.data.root, 'schedule', '--dry-run')).toContain('pictures');
    expect(readPicturesReport(mirrored.data, begin)).toMatchObject({ mirrored: 0, last_pass_at: null });
    expect(await mirrored.mirror(begin + 1)).toMatchObject({ mirrored: 1 });
    expect(await mirrored.served(good)).toEqual(picture('png'));
  });

  it('goes on after it was asked to end where it was', async () => {
    const { server, good, mirrored } = await twoPictures();
    await using _ = server;
    const stop = new AbortController();
    server.paths.set('/bad.png', () => stop.abort());
    const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
    using index = await PictureIndex.open(mirrored.data, realEffects.files, () => undefined);
    const requests = new PictureRequests({ allowPrivate: true, connectMilliseconds: 1000 });
    const wanted = [{ name: 'bad', address: server.at('/bad.png') }];
    const mirror = { folder: mirrored.data.pictures, index, requests, terminal, stop: stop.signal };
    expect(await mirrorPictures(wanted, mirror, realEffects)).toMatchObject({ asked: 1, failed: 0, left: 1 });
    await requests.close();
    // As if it had never been asked for.
    expect(index.failing()).toEqual([]);
    server.paths.delete('/bad.png');
    expect(await mirrored.mirror()).toMatchObject({ mirrored: 1, failed: 1 });
    expect(await mirrored.served(good)).toEqual(picture('png'));
  });
});

it('a name whose look-up never ends takes no longer than any other, and does not keep the pass from ending', async () => {
  const requests = new PictureRequests({ allowPrivate: false, connectMilliseconds: 10_000, lookup: () => undefined });
  const url = new URL('https://cdn.advertiser.com/p.png');
  const answer = await requests.ask(url, undefined, 200, new AbortController().signal);
  expect(answer).toEqual({ kind: 'problem', problem: 'timeout' });
  await requests.close();
});

it('an address that leads on to a private one is refused there, and nobody is connected to', async () => {
  await using server = await PictureServer.start();
  server.paths.set('/inside.png', picture('png'));
  /** A public server cannot be had in a test: its answer is made up, all else is as always. */
  class WithPublicServer extends PictureRequests {
    override async ask(...[url, ...rest]: Parameters<PictureRequests['ask']>): Promise<PictureAnswer> {
      if (url.host === 'cdn.advertiser.com') return { kind: 'redirect', to: new URL(server.at('/inside.png')) };
      return super.ask(url, ...rest);
    }
  }
  const mirrored = await MirroredData.create();
  using index = await PictureIndex.open(mirrored.data, realEffects.files, () => undefined);
  const requests = new WithPublicServer({ allowPrivate: false, connectMilliseconds: 1000 });
  const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
  const mirror = {
    folder: mirrored.data.pictures,
    index,
    requests,
    terminal,
    stop: new AbortController().signal,
  };
  const wanted = [{ name: 'p.png', address: 'https://cdn.advertiser.com/p.png' }];
  expect(await mirrorPictures(wanted, mirror, realEffects)).toMatchObject({ problems: { refused_address: 1 } });
  await requests.close();
  expect(server.connections).toBe(0);
});

it('status shows their number, the age of the last pass, and the reason of its failure', async () => {
  const { server, mirrored } = await twoPictures();
  await using _ = server;
  const none = { mirrored: 0, failing: 0, last_pass_at: null, age_seconds: null, error: null, ended_by_force: false };
  expect(readPicturesReport(mirrored.data, begin)).toEqual(none);
  await mirrored.mirror();
  const good = {
    mirrored: 1,
    failing: 1,
    last_pass_at: '2026-11-20T12:00:00Z',
    age_seconds: 60,
    error: null,
    ended_by_force: false,
  };
  expect(readPicturesReport(mirrored.data, begin + 60_000)).toEqual(good);
  {
    using index = PictureIndex.existing(mirrored.data);
    index?.beginPass(begin + 60_000);
  }
  expect(readPicturesReport(mirrored.data, begin + 60_000).error).toBe('ended by force, without a word');
  const { stdout, code } = await endOf(mirrored.data.root, 'status', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    pictures: { mirrored: 1, failing: 1 },
    to_do: expect.arrayContaining([
      {
        what: expect.stringContaining('the last pass over pictures failed') as string,
        command: 'offerline pictures',
        alarm: true,
      },
    ]) as unknown,
  });
});

it('the doctor reads every picture, and the next pass has again what it took away', async () => {
  const { server, good, mirrored } = await twoPictures();
  await using _ = server;
  await mirrored.mirror();
  expect(await examinePictures(mirrored.data)).toEqual({ findings: [], damaged: [] });
  const path = join(mirrored.data.pictures, (await mirrored.files())[0] ?? '');
  await flipBit(path);
  expect(await examinePictures(mirrored.data)).toMatchObject({
    findings: [{ level: 'trouble', check: 'pictures', subject: path, repairable: true }],
    damaged: [path],
  });
  await realEffects.files.remove(path, 'as the doctor does');
  await mirrored.mirror(begin + day / 2);
  expect(await mirrored.served(good)).toEqual(picture('png'));
});
