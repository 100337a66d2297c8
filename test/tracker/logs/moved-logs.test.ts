import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { route, TrackerUnderTest } from '../tracker-under-test.ts';
import { LogUnderTest } from './log-under-test.ts';

const errors = (test: LogUnderTest) =>
  test.logged
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ level }) => level >= 50)
    .map(({ msg }) => msg);
const folderOf = (test: LogUnderTest) => join(test.data.landing, 'clicks', 'tracker');
/** All rows that landing would find, or the next start hands over. */
const rowsOf = (test: LogUnderTest) => Object.values(test.files).join('').split('\n').filter(Boolean).toSorted();

describe.each(['power', 'process'] as const)('in mode "%s", a log that is written to', (durability) => {
  it.each([
    ['removed', (test: LogUnderTest) => rmSync(folderOf(test), { recursive: true })],
    ['moved', (test: LogUnderTest) => renameSync(folderOf(test), join(test.data.root, 'elsewhere'))],
    ['moved with all of landing', (test: LogUnderTest) => renameSync(test.data.landing, join(test.data.root, 'gone'))],
  ] as const)(
    'and is %s has its rows where landing looks, within a second, which is logged once',
    async (_how, away) => {
      await using test = new LogUnderTest({}, durability);
      await test.log.append('answered for');
      away(test);
      test.now += 1000;
      await test.log.tick();
      expect(rowsOf(test)).toEqual(['answered for']);
      await test.log.append('next');
      test.now += 1000;
      await test.log.tick();
      await test.log.tick();
      await test.log.close();
      expect(rowsOf(test)).toEqual(['answered for', 'next']);
      expect(Object.keys(test.files).every((name) => !name.endsWith('.part'))).toBe(true);
      expect(errors(test)).toEqual([expect.stringContaining('its rows are written again, into another')]);
    },
  );

  it('under a load that never rests is looked at, too', async () => {
    await using test = new LogUnderTest({}, durability);
    await test.log.append('answered for');
    rmSync(folderOf(test), { recursive: true });
    test.now += 1000;
    await test.log.append('next');
    await test.log.close();
    expect(rowsOf(test)).toEqual(['answered for', 'next']);
  });

  it('and is gone when it is to be handed over has its rows in another', async () => {
    await using test = new LogUnderTest({}, durability);
    test.faults.before = (step) => {
      if (step === 'renamed' && test.files['2026-11-20/000000.part'] !== undefined)
        rmSync(folderOf(test), { recursive: true });
    };
    await test.log.append('answered for');
    await test.log.close();
    expect(rowsOf(test)).toEqual(['answered for']);
    expect(errors(test)).toHaveLength(1);
  });

  it('and cannot be written again is logged once, and tried until it can', async () => {
    await using test = new LogUnderTest({}, durability);
    await test.log.append('answered for');
    renameSync(test.data.landing, join(test.data.root, 'gone'));
    writeFileSync(test.data.landing, 'in the way');
    for (let second = 0; second < 3; second++) {
      test.now += 1000;
      await test.log.tick();
    }
    expect(errors(test)).toEqual([expect.stringContaining('cannot be written again yet')]);
    rmSync(test.data.landing);
    mkdirSync(test.data.landing);
    test.now += 1000;
    await test.log.tick();
    expect(rowsOf(test)).toEqual(['answered for']);
    expect(errors(test)).toHaveLength(2);
  });
});

it('a log that comes back after it was written again counts once against caps', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1, daily_click_cap: 5 })] });
  const clicks = join(test.data.landing, 'clicks', 'tracker', '2026-11-20');
  for (const user of ['a', 'b', 'c', 'd']) await test.click(1, user);
  renameSync(clicks, join(test.data.root, 'elsewhere'));
  test.now += 1000;
  await test.tracker.tick();
  await test.stop();
  for (const name of readdirSync(join(test.data.root, 'elsewhere')))
    renameSync(join(test.data.root, 'elsewhere', name), join(clicks, name));
  await test.restart();
  expect((await test.click(1, 'e')).status).toBe(302);
  expect((await test.click(1, 'f')).status).toBe(403);
});
