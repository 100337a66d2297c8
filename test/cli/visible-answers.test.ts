import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visibleText } from '../../src/kit/text/visible-text.ts';
import { asOf, clicks, secrets, smallData } from '../e2e/small-data.ts';
import { offerline } from '../support/command-line.ts';
import { command } from '../support/commands.ts';
import type { PipelineUnderTest } from '../support/pipeline-under-test.ts';

/** What an advertiser, a publisher's user or whoever lands files may write to rule an operator's terminal. */
const nasty = '\u001b[2J\u009b31m\r\u0007\u007f\u0085\u202e\u2028\nFAKED';
const ruling = /(?!\n)[\p{Cc}\u2028-\u202e]|^FAKED/mu;

let pipeline: PipelineUnderTest;
let root: string;
beforeAll(async () => {
  // Its postback fails, and long ago.
  pipeline = await smallData({ freshness: { postbacks_minutes: 1e9 } });
  root = pipeline.data.root;
  const postback = { url: 'https://publisher.example/cb' };
  const site = { site_key: 'site-1', site_secret: secrets[0], name: nasty, postback };
  await writeFile(pipeline.data.sitesFile, JSON.stringify({ sites: [site] }));
  const click = { ...clicks('nasty', 1, '2025-03-10T09:00:00Z')[0], user_id: `u${nasty}` };
  await pipeline.landLog('clicks', 'ndjson', [click]);
  await pipeline.landLog('conversions', 'ndjson', [
    { conversion_id: 'v9', click_id: 'nasty-0', kind: 'credit', occurred_at: '2025-03-10T09:30:00Z', reason: nasty },
    { conversion_id: 'v2', click_id: 'nasty-0', kind: 'credit', occurred_at: `2025${nasty}` },
  ]);
  const offer = { title: `Game${nasty}`, payout: '1' };
  const offers = (length: number) => Array.from({ length }, (_, index) => ({ external_id: `e${index}`, ...offer }));
  await pipeline.landOffers(`source${nasty}`, offers(20));
  await pipeline.refresh(asOf);
  await pipeline.landOffers(`source${nasty}`, offers(2));
  await pipeline.landOffers('net', [
    { id: 1, external_id: 'one', title: `One${nasty}`, payout: '2.5' },
    { id: 2, external_id: 'two', title: 'Two', payout: '0.25' },
  ]);
  await pipeline.refresh('2025-03-10T13:00:00Z');
  // Left over, for the doctor to name.
  await mkdir(join(pipeline.data.events, `dt=${nasty}`));
  await writeFile(join(pipeline.data.events, `dt=${nasty}`, 'left.parquet'), '');
  await writeFile(join(root, 'theirs.csv'), `click_id,"reward${nasty}",reward,status\n"nasty-0${nasty}",,1,\n`);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

const asked: string[][] = [
  ['sql', 'SELECT title, external_id FROM offers ORDER BY ALL'],
  ['sql', 'SELECT raw FROM rejects'],
  ['sql', 'SELECT [title] FROM offers'],
  ['sql', `SELECT 1 AS "a${nasty}"`],
  ['sql', `SELECT 1 AS "a${nasty}" WHERE false`],
  ['sql', `EXPLAIN SELECT title FROM offers WHERE title = '${nasty}'`],
  ['diff', '00000001', 'current'],
  ['postbacks', 'list'],
  ['status'],
  ['runs'],
  ['snapshots'],
  ['offers', 'held'],
  ['doctor'],
  ['sites', 'list'],
  ['reconcile', '--site', 'site-1', '--file', 'theirs.csv'],
  ['backfill', 'reports', '--dry-run'],
];

describe('a text that rules terminals', () => {
  const named = asked.map((words) => [visibleText(words.join(' ')), words] as const);
  it.each(named)('is only shown by %s', async (_name, words) => {
    const typed = words.map((word) => (word.endsWith('.csv') ? join(root, word) : word));
    const shown = await command(root, ...typed);
    expect(shown).not.toBe('');
    expect(shown).not.toMatch(ruling);
    expect(await command(root, ...typed, '--json')).not.toMatch(ruling);
  });

  it('is shown where it is asked for', async () => {
    const title = await command(root, 'sql', 'SELECT title FROM offers WHERE offer_id = 1');
    expect(title).toContain(String.raw`One␛[2J\u009b31m␍␇␡\u0085\u202e\u2028␊FAKED`);
    expect(await command(root, 'diff', '00000001', 'current')).toContain('One␛[2J');
    // What needs attention is on one line each.
    expect(await command(root, 'status')).toMatch(/an export of source␛.* FAKED is held/);
    expect(await command(root, 'doctor')).toMatch(/dt=␛.*␊FAKED/);
    const list = await command(root, 'postbacks', 'list', '--json');
    const { postbacks } = JSON.parse(list) as { postbacks: { webhook_id: string; click_id: string }[] };
    const { webhook_id = '' } = postbacks.find(({ click_id }) => click_id === 'nasty-0') ?? {};
    const postback = await command(root, 'postbacks', 'show', webhook_id);
    expect(postback).toMatch(/^user_id +u␛\[2J.*␊FAKED$/m);
    expect(postback).not.toMatch(ruling);
  });

  it('stays what it is in JSON and CSV', async () => {
    const query = ['sql', 'SELECT title FROM offers WHERE offer_id = 1'];
    expect(JSON.parse(await command(root, ...query, '--json'))).toMatchObject({ rows: [{ title: `One${nasty}` }] });
    expect(await command(root, ...query, '--format', 'csv')).toBe(`title\n"One${nasty}"\n`);
  });

  it('is only shown by what goes to standard error', async () => {
    for (const words of [
      ['sql', `SELECT "${nasty}"`],
      ['run', nasty],
    ]) {
      const { code, stderr } = await offerline(root, ...words);
      expect(code).toBe(2);
      expect(stderr).toContain('FAKED');
      expect(stderr).not.toMatch(/(?!\n)[\p{Cc}\u2028-\u202e]/u);
    }
  });
});
