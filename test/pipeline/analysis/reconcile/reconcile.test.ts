import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Reconciliation } from '../../../../src/pipeline/analysis/reconcile/reconcile.ts';
import { command, endOf, usageErrorOf } from '../../../support/commands.ts';
import { PipelineUnderTest } from '../../../support/pipeline-under-test.ts';
import { slow } from '../../../support/slow.ts';

const asOf = '2025-03-10T12:00:00Z';
const site = { site_key: 'lootlane', site_secret: 'a-secret-of-this-site', commission: 0.15, reward_rate: 333.3 };

let pipeline: PipelineUnderTest;
let root: string;
beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date(asOf), { sites: [site, { ...site, site_key: 'rival' }] });
  root = pipeline.data.root;
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1.234567' }]);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => ({
      click_id: name,
      offer_id: 1,
      site_key: name === 'h' ? 'rival' : 'lootlane',
      user_id: 'u',
      clicked_at: '2025-03-08T09:00:00Z',
    })),
  );
  const credit = (click_id: string, day: number) => ({
    conversion_id: `v-${click_id}`,
    click_id,
    kind: 'credit',
    occurred_at: `2025-03-${String(day).padStart(2, '0')}T10:00:00Z`,
  });
  await pipeline.landLog('conversions', 'ndjson', [
    ...['a', 'b', 'c', 'd', 'e'].map((name) => credit(name, 8)),
    credit('f', 9),
    { ...credit('h', 8), payout: '2' },
    { conversion_id: 'v-e', click_id: 'e', kind: 'chargeback', occurred_at: '2025-03-09T10:00:00Z' },
  ]);
  await pipeline.refresh(asOf);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

/** 1.234567 × 0.85 × 333.3 = 349.7590…, computed by hand: 1.234567 × 283.305 = 349.759004… */
const due = '349.759';

async function listFile(name: string, ...lines: string[]): Promise<string> {
  const file = join(root, name);
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

it('sorts every difference of a list, with sums that add up', async () => {
  const file = await listFile(
    'list.csv',
    'Click ID;Reward;Status;When;Country',
    `a;${due};paid;2025-03-08 10:00;DE`,
    `b;${due};paid;2025-03-08 10:00;DE`,
    `b;${due};paid;2025-03-08 10:05;DE`,
    'c;400;paid;2025-03-08 10:00;DE',
    `e;${due};paid;2025-03-08 10:00;DE`,
    `f;${due};paid;2025-03-08 23:59;DE`,
    'g;7.5;paid;2025-03-08 10:00;DE',
    'h;2;paid;2025-03-08 10:00;DE',
  );
  const out = join(root, 'differences.csv');
  const report = JSON.parse(
    await command(root, 'reconcile', '--site', 'lootlane', '--file', file, '--out', out, '--json'),
  ) as Reconciliation;
  expect(report).toMatchObject({
    site_key: 'lootlane',
    as_of: asOf,
    rows: 8,
    period: { from: '2025-03-08', to: '2025-03-08' },
    ignored_columns: ['Country'],
    columns: { click_id: 'Click ID', reward: 'Reward', state: 'Status', time: 'When' },
    agreed: { count: 2, there: '699.518', here: '699.518' },
    summary: [
      { difference: 'missing_there', count: 1, there: '0', here: due, balance: `-${due}` },
      { difference: 'missing_here', count: 1, there: '7.5', here: '0', balance: '7.5' },
      { difference: 'amount', count: 1, there: '400', here: due, balance: '50.241' },
      { difference: 'state', count: 1, there: due, here: '0', balance: due },
      { difference: 'duplicate', count: 1, there: due, here: '0', balance: due },
      { difference: 'late', count: 1, there: due, here: '0', balance: due },
      { difference: 'unknown_click', count: 1, there: '2', here: '0', balance: '2' },
    ],
    // Ours: a, b, c and d of the period; f was credited on the day after, e was charged back.
    total: { there: '2158.295', here: '1399.036', balance: '759.259' },
  });
  expect(
    report.differences.map(({ difference, click_id, line, detail }) => [difference, click_id, line, detail]),
  ).toEqual([
    ['missing_there', 'd', null, 'no postback was to be sent'],
    ['missing_here', 'g', 8, 'the click of 2025-03-08T09:00:00Z has no further conversion'],
    ['amount', 'c', 5, '50.241 more there than here'],
    ['state', 'e', 6, 'credited there, charged_back here since 2025-03-09T10:00:00Z'],
    ['duplicate', 'b', 4, 'listed there before'],
    ['late', 'f', 7, 'in the period there, outside of it here'],
    ['unknown_click', 'h', 9, "the click is another site's"],
  ]);
  const [header, ...rows] = (await readFile(out, 'utf8')).trimEnd().split('\n');
  expect(header).toBe(
    'difference,click_id,conversion_id,offer_id,line,state_there,state_here,amount_there,amount_here,time_there,time_here,detail',
  );
  expect(rows).toHaveLength(7);
  expect(rows[2]).toBe(
    `amount,c,v-c,1,5,credited,credited,400,${due},2025-03-08T10:00:00Z,2025-03-08T10:00:00Z,50.241 more there than here`,
  );
});

it('is shown to people as sums and details', async () => {
  const file = await listFile('short.csv', 'click_id,amount', `a,${due}`, 'b,1');
  const text = await command(
    root,
    'reconcile',
    '--site',
    'lootlane',
    '--file',
    file,
    '--from',
    '2025-03-08',
    '--to',
    '2025-03-08',
    '--tolerance',
    '0.5',
  );
  expect(text).toContain('lootlane, 2 rows there');
  expect(text).toMatch(/^agreed +1 +349\.759 +349\.759$/m);
  expect(text).toMatch(/^amount +3 +b +v-b +1 +349\.759 +348\.759 less there than here$/m);
  expect(text).toMatch(/^missing there +2 /m);
});

it('a day that is not given is that of the list', async () => {
  const file = await listFile(
    'days.csv',
    'click_id,amount,time',
    `a,${due},2025-03-08 10:00`,
    `b,${due},2025-03-08 10:00`,
  );
  const reconciled = async (...days: string[]) =>
    JSON.parse(
      await command(root, 'reconcile', '--site', 'lootlane', '--file', file, '--json', ...days),
    ) as Reconciliation;
  const whole = await reconciled();
  expect(whole.period).toEqual({ from: '2025-03-08', to: '2025-03-08' });
  // The conversion of the 9th is outside of it.
  expect(whole.summary).toMatchObject([{ difference: 'missing_there', count: 2 }]);
  expect(await reconciled('--from', '2025-03-01')).toEqual({
    ...whole,
    period: { ...whole.period, from: '2025-03-01' },
  });
  expect(await reconciled('--to', '2025-03-09')).toMatchObject({
    period: { from: '2025-03-08', to: '2025-03-09' },
    summary: [{ difference: 'missing_there', count: 3 }],
  });
  expect(await usageErrorOf(root, 'reconcile', '--site', 'lootlane', '--file', file, '--from', '2025-03-09')).toBe(
    'the first day, 2025-03-09, is after the last, 2025-03-08; the day that is not given is that of the list: give both',
  );
});

it('takes the reward of the postback, and reports its state', slow, async () => {
  const rewarded = {
    site_key: 'rewarded',
    site_secret: 'a-secret-of-this-site',
    commission: 0.2,
    postback: { url: 'http://127.0.0.1:9/{click_id}' },
  };
  await using network = await PipelineUnderTest.create(new Date(asOf), { sites: [rewarded] });
  await network.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1' }]);
  await network.landLog(
    'clicks',
    'ndjson',
    ['a', 'b'].map((click_id) => ({
      click_id,
      offer_id: 1,
      site_key: 'rewarded',
      user_id: 'u',
      clicked_at: '2025-03-08T09:00:00Z',
    })),
  );
  await network.landLog(
    'conversions',
    'ndjson',
    ['a', 'b'].map((click_id) => ({
      conversion_id: click_id,
      click_id,
      kind: 'credit',
      occurred_at: '2025-03-08T10:00:00Z',
    })),
  );
  await network.refresh('2025-03-08T12:00:00Z');
  await writeFile(network.data.sitesFile, JSON.stringify({ sites: [{ ...rewarded, commission: 0.5 }] }));
  await network.refresh(asOf);
  const file = join(network.data.root, 'list.csv');
  await writeFile(file, 'click_id,reward\na,0.8\n');
  const report = JSON.parse(
    await command(network.data.root, 'reconcile', '--site', 'rewarded', '--file', file, '--json'),
  ) as Reconciliation;
  expect(report.agreed).toEqual({ count: 1, there: '0.8', here: '0.8' });
  expect(report.differences).toMatchObject([
    {
      difference: 'late',
      click_id: 'b',
      amount_here: '0.8',
      detail: expect.stringMatching(/^its postback is pending/) as string,
    },
  ]);
});

it('says what it cannot use', async () => {
  const reconcile = (...words: string[]) => usageErrorOf(root, 'reconcile', ...words);
  const file = await listFile('bad.csv', 'click_id,amount', 'a,much');
  expect(await reconcile('--site', 'lootlane', '--file', file)).toBe(
    `${file} line 2: "much" is no amount; write it like 1250 or 12.50`,
  );
  expect(await reconcile('--site', 'lootlane', '--file', join(root, 'none.csv'))).toContain('none.csv cannot be read');
  const good = await listFile('good.csv', 'click_id', 'a');
  expect(await reconcile('--site', 'nobody', '--file', good)).toBe(
    'the snapshot has no site "nobody"; it has lootlane, rival',
  );
  expect(await reconcile('--site', 'lootlane', '--file', good, '--from', '2025-03-09', '--to', '2025-03-08')).toContain(
    'is after',
  );
  expect(await reconcile('--site', 'lootlane', '--file', good, '--from', 'soon')).toContain('write it like 2026-11-18');
  await writeFile(join(root, 'latin.csv'), Buffer.from('click_id\né', 'latin1'));
  expect(await reconcile('--site', 'lootlane', '--file', join(root, 'latin.csv'))).toContain(
    'the text is not valid UTF-8; say what it is by --mapping',
  );
});

it('says of how many rows a spreadsheet has rounded the ids', async () => {
  const lines = ['click_id,conversion_id', 'a,v-a', '1.23457E+17,v-b', 'c,1.23E+11'];
  const words = ['reconcile', '--site', 'lootlane', '--file', await listFile('rounded.csv', ...lines)];
  expect(JSON.parse(await command(root, ...words, '--json'))).toMatchObject({ rows: 3, rounded_ids: 2 });
  expect(await command(root, ...words)).toMatch(
    /^warning {3}of 2 rows ids look like 1\.23457E\+17: a spreadsheet has rounded .* export them as text$/m,
  );
  const good = await listFile('good.csv', ...lines.slice(0, 2));
  expect(await command(root, 'reconcile', '--site', 'lootlane', '--file', good)).not.toContain('warning');
});

it('names every row that it cannot read, in JSON all of them', async () => {
  const file = await listFile('unreadable.csv', 'click_id,amount', ...Array.from({ length: 25 }, () => 'a,much'));
  const words = ['reconcile', '--site', 'lootlane', '--file', file];
  const { code, stdout, stderr } = await endOf(root, ...words, '--json');
  const { unreadable } = JSON.parse(stdout) as { unreadable: { line: number; reason: string }[] };
  expect(code).toBe(2);
  expect(unreadable).toHaveLength(25);
  expect(unreadable[24]).toEqual({ line: 26, reason: '"much" is no amount; write it like 1250 or 12.50' });
  expect(stderr).toContain('… and 5 more of 25; --json names all');
});

it('reads a list as a spreadsheet in German writes it, and one of other names by a mapping', async () => {
  const german = await listFile(
    'german.csv',
    'Prämien;;',
    '',
    'Click ID;Betrag;Status',
    `a;349,759 Punkte;ok`,
    'Summe;349,759;',
  );
  const mapping = join(root, 'mapping.json');
  await writeFile(
    mapping,
    JSON.stringify({ fields: { reward: { at: 'Betrag', number: { decimal: ',', strip: ['Punkte'] } } } }),
  );
  const words = ['reconcile', '--site', 'lootlane', '--file', german, '--mapping', mapping];
  expect(JSON.parse(await command(root, ...words, '--json'))).toMatchObject({
    rows: 1,
    columns: { click_id: 'Click ID', reward: 'Betrag', state: 'Status' },
    agreed: { count: 1, there: due, here: due },
    passed_over: [{ line: 5 }],
  });
  expect(await command(root, ...words)).toMatch(/^no reward 1 row: 5 .*Summe/m);
});
