import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { offerline } from '../support/command-line.ts';
import { endOf } from '../support/commands.ts';
import { asOf, smallData } from './small-data.ts';
import { slow } from '../support/slow.ts';

it('doctor exits 1 and says what to do about damage; after its repair it exits 0', slow, async () => {
  await using pipeline = await smallData();
  const run = (...words: string[]) => endOf(pipeline.data.root, ...words);
  await pipeline.refresh(asOf);
  expect(await run('doctor')).toMatchObject({ code: 0, stdout: 'all is well\n' });

  await rm(join(pipeline.data.events, 'clicks'), { recursive: true });
  const wrong = await offerline(pipeline.data.root, 'doctor');
  expect(wrong).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^TROUBLE {2}files: events\/clicks\/.* is missing\n\s+by `offerline doctor --repair`: it comes back from a snapshot/m,
    ) as string,
  });
  const deep = await run('doctor', '--deep');
  expect(deep.stdout).toMatch(/by `offerline doctor --deep --repair`: it comes back from a snapshot/);
  expect(deep.stdout).not.toContain('by `offerline doctor --repair`');
  const repaired = await run('doctor', '--repair', '--json');
  expect({ code: repaired.code, ...(JSON.parse(repaired.stdout) as object) }).toMatchObject({
    code: 0,
    repaired: 1,
    left: 0,
    snapshot_id: expect.any(String) as string,
  });
  expect(await pipeline.ask('SELECT count(*) AS clicks FROM clicks')).toEqual([{ clicks: 20 }]);
});

it('rebuild --from-landing reads every log again; without a log that counts it refuses', slow, async () => {
  await using pipeline = await smallData();
  const run = (...words: string[]) => endOf(pipeline.data.root, ...words);
  await pipeline.refresh(asOf);
  const before = await pipeline.ask('SELECT click_id, offer_id FROM clicks ORDER BY click_id');
  const rebuilt = await run('rebuild', '--from-landing', '--json');
  expect(rebuilt.code).toBe(0);
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({ ingested: { files: 2, rows: 21, accepted: 21 } });
  expect(await pipeline.ask('SELECT click_id, offer_id FROM clicks ORDER BY click_id')).toEqual(before);

  const { current } = await pipeline.snapshots();
  await rm(join(pipeline.data.landing, 'clicks'), { recursive: true });
  expect(await run('rebuild', '--from-landing')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--without-missing') as string,
  });
  expect((await pipeline.snapshots()).current).toBe(current);
});
