import { constants } from 'node:buffer';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { NotRecordedError } from '../../../src/tracker/logs/row-log.ts';
import type { NamedClick } from '../../../src/tracker/conversions/report/known-clicks.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { ownLogs } from '../../../src/tracker/logs/log-names.ts';
import { clickIdOf, route, secret, TrackerUnderTest } from '../tracker-under-test.ts';
import { HandlerUnderTest, northOffer, saying, start, token } from './handler-under-test.ts';
import { slow } from '../../support/slow.ts';

const postback = { token, once_per_user: true };

/** Clicks `<user>-<n>` of site s on offer 7, as a published snapshot has them. */
const imported = (clickId: string): Promise<NamedClick> =>
  Promise.resolve({
    clickId,
    offerId: 7,
    clickedAt: start,
    user: { siteKey: 's', userId: clickId.split('-')[0] ?? '' },
  });

/** Further conversions of the two users are refused. */
async function expectBothCompleted(test: HandlerUnderTest): Promise<void> {
  for (const user of ['anna', 'bert'])
    expect(saying(await test.get({ click_id: `${user}-2`, transaction_id: `T3-${user}` }))).toEqual([
      409,
      'already_completed',
    ]);
}

describe('of a source that pays a user once', () => {
  it('a further conversion of the same user and offer, or milestone, is refused, and kept', async () => {
    await using test = await HandlerUnderTest.create({ postback, imported });
    const report = async (click_id: string, transaction_id: string, more: object = {}) =>
      saying(await test.get({ click_id, transaction_id, ...more }));
    expect(await report('anna-1', 'T1')).toEqual([200, 'recorded']);
    expect(await report('anna-2', 'T2')).toEqual([409, 'already_completed']);
    expect(await report('anna-1', 'T1')).toEqual([200, 'duplicate']);
    expect(await report('bert-1', 'T3')).toEqual([200, 'recorded']);
    expect(await report('anna-1', 'T4', { event_id: 'level-5' })).toEqual([200, 'recorded']);
    expect(await report('anna-2', 'T5', { event_id: 'level-5' })).toEqual([409, 'already_completed']);
    // What says otherwise than before is no completion of its user.
    expect(await report('carl-1', 'T1')).toEqual([409, 'contradiction']);
    expect(await report('carl-2', 'T6')).toEqual([200, 'recorded']);
    await test.refusals.settled();
    expect(readFileSync(`${test.data.refusedConversions}/2026-11-18.north.ndjson`, 'utf8')).toContain(
      'already_completed',
    );
    expect(readFileSync(test.data.completionsFile, 'utf8')).not.toContain('anna');
    expect(statSync(test.data.completionsFile).mode & 0o777).toBe(0o600);
  });

  it('of many that come at once one is recorded', async () => {
    await using test = await HandlerUnderTest.create({ postback, imported });
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => test.get({ click_id: `anna-${n}`, transaction_id: `T${n}` })),
    );
    const sorted = all.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(sorted).toEqual([200, ...Array<number>(19).fill(409)]);
    expect(test.rows).toHaveLength(1);
  });

  it('what was taken back may be completed again, and what could not be recorded was not completed', async () => {
    await using test = await HandlerUnderTest.create({ postback, imported });
    test.sink.before = () => Promise.reject(new NotRecordedError('the disk is nearly full'));
    expect(saying(await test.get({ click_id: 'anna-1', transaction_id: 'T1' }))).toEqual([503, 'not_recorded']);
    test.sink.before = () => Promise.resolve();
    expect(saying(await test.get({ click_id: 'anna-2', transaction_id: 'T2' }))).toEqual([200, 'recorded']);
    await test.get({ click_id: 'anna-2', transaction_id: 'T2', status: 'reject' });
    expect(saying(await test.get({ click_id: 'anna-3', transaction_id: 'T3' }))).toEqual([200, 'recorded']);
    expect(saying(await test.get({ click_id: 'anna-1', transaction_id: 'T1' }))).toEqual([409, 'already_completed']);
  });

  it('what is recorded or not is so, also where nothing can be written about it afterwards', async () => {
    await using test = await HandlerUnderTest.create({ postback, imported });
    const file = test.data.completionsFile;
    const report = async (click_id: string, transaction_id: string, before: () => Promise<void>) => {
      test.sink.before = before;
      return saying(await test.get({ click_id, transaction_id }));
    };
    const taken = () => Promise.resolve();
    // A folder where the file should be takes no line.
    const block = () => (rmSync(file), mkdirSync(file));
    expect(await report('anna-1', 'T1', async () => block())).toEqual([200, 'recorded']);
    expect(test.recorded).toEqual(['north:T1']);
    expect(test.logged.join('')).toContain(`could not be written to ${file}`);
    rmSync(file, { recursive: true });
    expect(await report('anna-2', 'T2', taken)).toEqual([409, 'already_completed']);
    const refuse = async () => {
      block();
      throw new NotRecordedError('the disk is nearly full');
    };
    writeFileSync(file, '');
    expect(await report('bert-1', 'T3', refuse)).toEqual([503, 'not_recorded']);
    rmSync(file, { recursive: true });
    expect(await report('bert-2', 'T4', taken)).toEqual([200, 'recorded']);
  });

  it('is on the disk with the name of its file', async () => {
    await using test = await HandlerUnderTest.create({ postback, imported });
    const steps: string[] = [];
    test.files = {
      ...realEffects.files,
      syncDirectory: async (path, step) => void steps.push(`${test.rows.length} rows, ${path}: ${step}`),
    };
    await test.open();
    await test.get({ click_id: 'anna-1', transaction_id: 'T1' });
    await test.get({ click_id: 'bert-1', transaction_id: 'T2' });
    expect(steps).toEqual([`0 rows, ${dirname(test.data.completionsFile)}: completions: folder synced`]);
  });

  it('a reversal is recorded where its user cannot be looked up now, and frees the completion all the same', async () => {
    let isAway = false;
    const published = (clickId: string): Promise<NamedClick> =>
      isAway
        ? Promise.reject(new Error('the snapshot cannot be read'))
        : Promise.resolve({ clickId, offerId: 7, clickedAt: start, user: { siteKey: 's', userId: 'anna' } });
    await using test = await HandlerUnderTest.create({ postback, imported: published });
    const credit = { click_id: test.click(), transaction_id: 'T1' };
    expect(saying(await test.get(credit))).toEqual([200, 'recorded']);
    isAway = true;
    expect(saying(await test.get({ ...credit, status: 'reject' }))).toEqual([200, 'recorded']);
    isAway = false;
    expect(saying(await test.get({ click_id: test.click(), transaction_id: 'T2' }))).toEqual([200, 'recorded']);
    expect(test.recorded).toHaveLength(3);
  });

  it('is off by default', async () => {
    await using test = await HandlerUnderTest.create({ imported });
    await test.get({ click_id: 'anna-1', transaction_id: 'T1' });
    expect(saying(await test.get({ click_id: 'anna-2', transaction_id: 'T2' }))).toEqual([200, 'recorded']);
  });

  it('is known of clicks that are in a log of the tracker alone, and after a restart, also one between two writes', async () => {
    await using test = await TrackerUnderTest.start({
      routes: [route({ offer_id: 1 })],
      sources: [{ source: 'north', postback }],
    });
    // Later than the same click again.
    const clicked = async (user: string) => ((test.now += 6000), clickIdOf(await test.click(1, user)));
    const report = async (click: string, transaction: string) =>
      (await test.ask(`/postback/north?token=${token}&click_id=${click}&transaction_id=${transaction}`)).status;
    const [one, two] = [await clicked('anna'), await clicked('anna')];
    expect(await report(one, 'T1')).toBe(200);
    test.elapse(61_000);
    expect(await report(two, 'T2')).toBe(409);
    await test.restart();
    expect(await report(two, 'T2')).toBe(409);
    const three = await clicked('anna');
    expect(await report(three, 'T3')).toBe(409);
    // Killed when the line of a completion was written, and nothing else.
    await test.stop();
    const [line] = readFileSync(test.data.completionsFile, 'utf8').trim().split('\n');
    const { key } = JSON.parse(line as string) as { key: string };
    const held = JSON.stringify({ key, conversion_id: 'north:T9' });
    writeFileSync(test.data.completionsFile, `${held}\n{"key":"torn`);
    await test.restart();
    expect(await report(two, 'T2')).toBe(200);
    expect(await report(three, 'T3')).toBe(409);
  });

  it('is known of clicks whose log was followed by one for each of the next seconds', async () => {
    await using test = await TrackerUnderTest.start({
      routes: [route({ offer_id: 1 })],
      sources: [{ source: 'north', postback }],
      settings: { tracker: { hand_over_seconds: 0.5 } },
    });
    const clicks: string[] = [];
    for (let second = 0; second < 40; second++) {
      test.elapse(1000);
      clicks.push(clickIdOf(await test.click(1, second % 20 === 0 ? 'anna' : `user-${second}`)));
    }
    expect(ownLogs(test.data, 'clicks')).toHaveLength(40);
    const report = async (click: string | undefined, transaction: string) =>
      (await test.ask(`/postback/north?token=${token}&click_id=${click}&transaction_id=${transaction}`)).status;
    expect(await report(clicks[0], 'T1')).toBe(200);
    expect(await report(clicks[20], 'T2')).toBe(409);
  });

  it('is known of clicks whose log was moved away and written again, and of conversions whose logs are gone', async () => {
    await using test = await TrackerUnderTest.start({
      routes: [route({ offer_id: 1 })],
      sources: [{ source: 'north', postback }],
    });
    const clicked = async () => ((test.now += 6000), clickIdOf(await test.click(1, 'anna')));
    const report = async (click: string, transaction: string) =>
      (await test.ask(`/postback/north?token=${token}&click_id=${click}&transaction_id=${transaction}`)).status;
    const [one, two] = [await clicked(), await clicked()];
    renameSync(`${test.data.landing}/clicks`, `${test.data.root}/elsewhere`);
    test.now += 20_000;
    await test.tracker.tick();
    expect(await report(one, 'T1')).toBe(200);
    expect(await report(two, 'T2')).toBe(409);
    await test.stop();
    rmSync(`${test.data.landing}/conversions`, { recursive: true });
    await test.restart();
    expect(await report(two, 'T2')).toBe(409);
  });

  it('is written again with all that is known where all of landing was taken away', async () => {
    await using test = await HandlerUnderTest.create({ postback, imported });
    await test.get({ click_id: 'anna-1', transaction_id: 'T1' });
    rmSync(test.data.landing, { recursive: true });
    await test.get({ click_id: 'bert-1', transaction_id: 'T2' });
    await test.open();
    await expectBothCompleted(test);
  });

  it('is known from a file that is longer than one text may be', async () => {
    await using test = await HandlerUnderTest.create({ postback, imported });
    await test.get({ click_id: 'anna-1', transaction_id: 'T1' });
    // Zeros, which take no room on the disk.
    truncateSync(test.data.completionsFile, constants.MAX_STRING_LENGTH + 1);
    await test.get({ click_id: 'bert-1', transaction_id: 'T2' });
    await test.open();
    await expectBothCompleted(test);
    expect(statSync(test.data.completionsFile).size).toBeLessThan(1000);
  });

  it('is over for what was taken back, also when nobody remembers that any more', async () => {
    await using test = await HandlerUnderTest.create({ postback, imported });
    await test.get({ click_id: 'anna-1', transaction_id: 'T1' });
    await test.get({ click_id: 'anna-1', transaction_id: 'T1', status: 'chargeback' });
    test.now += 91 * 86_400_000;
    await test.open();
    const later = { click_id: 'anna-2', transaction_id: 'T2', occurred_at: String(start / 1000 + 60) };
    expect(saying(await test.get(later))).toEqual([200, 'recorded']);
  });

  it('is known of clicks that are published, whose logs are gone', slow, async () => {
    await using pipeline = await PipelineUnderTest.create(new Date('2026-11-20T14:00:00Z'));
    const destination_url = 'https://advertiser.example/?c={click_id}';
    await pipeline.landOffers('north', [{ external_id: 'one', id: 1, title: 'One', payout: '1.50', destination_url }]);
    await pipeline.refresh('2026-11-20T11:00:00Z');
    await using test = await TrackerUnderTest.start({
      data: pipeline.data,
      sites: [{ site_key: 'one', site_secret: secret }],
      sources: [{ source: 'north', postback }],
    });
    const clicks = [await test.click(1, 'anna')];
    test.now += 6000;
    clicks.push(await test.click(1, 'anna'));
    await test.stop();
    await pipeline.refresh(new Date(test.now + 1000).toISOString());
    rmSync(`${pipeline.data.landing}/clicks/tracker`, { recursive: true });
    await test.restart();
    const statuses = [];
    for (const [n, click] of clicks.entries()) {
      const report = `/postback/north?token=${token}&click_id=${clickIdOf(click)}&transaction_id=t${n}`;
      statuses.push((await test.ask(report)).status);
    }
    expect(statuses).toEqual([200, 409]);
  });
});

describe('of a source that says event_required', () => {
  const reports = async (former: object[], events: (typeof northOffer)['events']) => {
    const offer = { ...northOffer, events, former: former as NonNullable<(typeof northOffer)['former']> };
    await using test = await HandlerUnderTest.create({
      postback: { token, event_required: true },
      offers: new Map([[7, offer]]),
    });
    const click_id = test.click();
    const whole = saying(await test.get({ click_id, transaction_id: 'T1' }));
    const reversal = saying(await test.get({ click_id, transaction_id: 'T2', status: 'reject' }));
    return [whole, reversal];
  };
  const refused = [422, 'event_required'];
  const recorded = [200, 'recorded'];

  it('a credit of no milestone is refused where the offer has some, now and when the user clicked', async () => {
    const { events } = northOffer;
    expect(await reports([], events)).toEqual([refused, recorded]);
    expect(await reports([], [])).toEqual([recorded, recorded]);
    expect(await reports([{ until: start + 1, payout: '1', events: [] }], events)).toEqual([recorded, recorded]);
    expect(await reports([{ until: start + 1, payout: '1', events }], [])).toEqual([recorded, recorded]);
  });
});
