import { mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readStatus } from '../../../../src/pipeline/status/status.ts';
import { readSettings } from '../../../../src/kit/config/settings.ts';
import { archivableFiles } from '../../../../src/pipeline/maintenance/archivable-files.ts';
import { realEffects } from '../../../../src/kit/files/effects.ts';
import { createLogger } from '../../../../src/kit/logging/log.ts';
import { click, LogLanding } from '../../../support/log-landing.ts';
import { PipelineUnderTest } from '../../../support/pipeline-under-test.ts';
import { slow } from '../../../support/slow.ts';

const at = (time: string) => new Date(time);
const offer = (payout: string) => [{ external_id: 'a', title: 'A', payout }];

/** A landing folder over which runs go at given clocks. */
async function exportsOf(landing: LogLanding) {
  const messages: string[] = [];
  const logger = createLogger(
    { write: (line: string) => messages.push((JSON.parse(line) as { msg: string }).msg) > 0 },
    'warn',
  );
  return {
    messages,
    land: async (name: string, payout: string, modified: string) => {
      const path = await landing.put(`offers/net/${name}`, offer(payout));
      await utimes(path, at(modified), at(modified));
    },
    touch: (name: string, modified: string) =>
      utimes(join(landing.data.landing, 'offers/net', name), at(modified), at(modified)),
    run: (clock: string) =>
      landing.ingest({ logger, wallClock: clock, effects: { ...realEffects, now: () => Date.parse(clock) } }),
    payout: async () =>
      (
        await landing.query<{ payout: string }>(
          'SELECT arg_max(payout, version)::VARCHAR AS payout FROM offer_versions',
        )
      )[0]?.payout,
  };
}

it('an export whose time is ahead counts as of when it was first seen, so that later ones decide', async () => {
  await using landing = await LogLanding.create();
  const { land, run, payout, messages, touch } = await exportsOf(landing);
  await land('a.ndjson', '1', '2030-01-01T00:00:00Z');
  await run('2026-11-18T10:00:00Z');
  await land('b.ndjson', '2', '2026-11-18T11:00:00Z');
  await run('2026-11-18T11:05:00Z');
  expect(await payout()).toBe('2.000000');
  // Nor does a time that is set ahead later freeze the source.
  await touch('b.ndjson', '2300-01-01T00:00:00Z');
  await run('2026-11-18T11:10:00Z');
  await land('c.ndjson', '3', '2026-11-18T11:30:00Z');
  await run('2026-11-18T11:35:00Z');
  expect(await payout()).toBe('3.000000');
  expect(messages).toEqual([]);
  expect(await landing.query(`SELECT path, status FROM ingest_files ORDER BY file_id`)).toEqual(
    ['a', 'b', 'c'].map((name) => ({ path: `offers/net/${name}.ndjson`, status: 'loaded' })),
  );
  // What decides is not for the archive, whatever the others' times say.
  expect(
    (await archivableFiles(landing.data, landing.state, Date.parse('2040-01-01T00:00:00Z'), () => false)).map(
      ({ path }) => path,
    ),
  ).toEqual(['offers/net/a.ndjson']);
});

it('an export that was ingested while the clock was ahead outdoes none after that', async () => {
  await using landing = await LogLanding.create();
  const { land, run, payout, messages } = await exportsOf(landing);
  await land('a.ndjson', '1', '2027-03-01T09:00:00Z');
  await run('2027-03-01T10:00:00Z');
  await land('b.ndjson', '2', '2026-11-18T11:00:00Z');
  await run('2026-11-18T11:05:00Z');
  expect(await payout()).toBe('2.000000');
  await land('c.ndjson', '3', '2026-11-18T10:30:00Z');
  await run('2026-11-18T11:10:00Z');
  expect(await payout()).toBe('2.000000');
  expect(messages).toEqual([expect.stringContaining('offers/net/c.ndjson')]);
});

it('of several whose times lie ahead the name decides, and then when they came', async () => {
  await using landing = await LogLanding.create();
  const { land, run, payout } = await exportsOf(landing);
  await land('a.ndjson', '1', '2031-01-01T00:00:00Z');
  await land('b.ndjson', '2', '2030-01-01T00:00:00Z');
  await run('2026-11-18T10:00:00Z');
  expect(await payout()).toBe('2.000000');
  await land('0.ndjson', '3', '2029-01-01T00:00:00Z');
  await run('2026-11-18T10:05:00Z');
  expect(await payout()).toBe('3.000000');
});

it('an export that is set aside is named with the newer one', async () => {
  await using landing = await LogLanding.create();
  const { land, run, payout, messages } = await exportsOf(landing);
  await land('a.ndjson', '1', '2026-11-18T09:00:00Z');
  await run('2026-11-18T10:00:00Z');
  await land('b.ndjson', '2', '2026-11-18T08:00:00Z');
  await land('c.ndjson', '3', '2026-11-18T08:30:00Z');
  await run('2026-11-18T11:00:00Z');
  await run('2026-11-18T12:00:00Z');
  expect(await payout()).toBe('1.000000');
  expect(messages).toEqual([
    'offers/net/c.ndjson and 1 more of its source are set aside: offers/net/a.ndjson is newer by its modification time. Land an export that should count under a new name',
  ]);
  expect(await landing.query(`SELECT DISTINCT reason FROM ingest_files WHERE status = 'superseded'`)).toEqual([
    { reason: 'older_export: offers/net/a.ndjson is newer' },
  ]);
});

it('an export that is touched is as old as its new time says, and never younger than when it was first seen', async () => {
  await using landing = await LogLanding.create();
  const { land, run, payout, touch } = await exportsOf(landing);
  await land('a.ndjson', '1', '2026-11-18T09:00:00Z');
  await run('2026-11-18T10:00:00Z');
  await touch('a.ndjson', '2026-11-18T07:00:00Z');
  await land('b.ndjson', '2', '2026-11-18T08:00:00Z');
  await run('2026-11-18T10:30:00Z');
  expect(await payout()).toBe('2.000000');
  await touch('b.ndjson', '2026-11-18T12:00:00Z');
  await land('c.ndjson', '3', '2026-11-18T10:15:00Z');
  await run('2026-11-18T12:30:00Z');
  expect(await payout()).toBe('2.000000');
});

it('status shows for a day what was set aside', slow, async () => {
  const noon = '2026-03-10T12:00:00Z';
  await using pipeline = await PipelineUnderTest.create(at(noon));
  const land = async (name: string, payout: string, modified: string) => {
    const path = join(pipeline.data.landing, 'offers/net', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(
      path,
      offer(payout)
        .map((each) => `${JSON.stringify(each)}\n`)
        .join(''),
    );
    await utimes(path, at(modified), at(modified));
  };
  await land('new.ndjson', '1', '2026-03-10T11:00:00Z');
  await land('old.ndjson', '2', '2026-03-10T10:00:00Z');
  await pipeline.refresh(noon);
  const status = (time: string) => readStatus(pipeline.data, readSettings(pipeline.data), Date.parse(time));
  expect((await status('2026-03-10T13:00:00Z')).set_aside).toEqual([
    { source: 'net', files: 1, path: 'offers/net/old.ndjson', reason: 'older_export: offers/net/new.ndjson is newer' },
  ]);
  expect((await status('2026-03-11T13:00:00Z')).set_aside).toEqual([]);

  // Until it is moved away, or a newer export counts.
  await rename(join(pipeline.data.landing, 'offers/net/old.ndjson'), join(pipeline.data.root, 'away.ndjson'));
  expect((await status('2026-03-10T13:00:00Z')).set_aside).toEqual([]);
  await rename(join(pipeline.data.root, 'away.ndjson'), join(pipeline.data.landing, 'offers/net/old.ndjson'));
  expect((await status('2026-03-10T13:00:00Z')).set_aside).toHaveLength(1);
  await land('newest.ndjson', '3', '2026-03-10T12:00:00Z');
  await pipeline.refresh('2026-03-10T12:30:00Z');
  expect((await status('2026-03-10T13:00:00Z')).set_aside).toEqual([]);
});

it('the modification time of a log decides nothing', async () => {
  await using landing = await LogLanding.create();
  const ahead = await landing.put('clicks/b.ndjson', [click('a', { user_id: 'b' })]);
  await utimes(ahead, at('2030-01-01T00:00:00Z'), at('2030-01-01T00:00:00Z'));
  await landing.put('clicks/a.ndjson', [click('a', { user_id: 'a' })]);
  await landing.ingest();
  expect(await landing.events('clicks', 'user_id')).toEqual([{ user_id: 'a' }]);
});
