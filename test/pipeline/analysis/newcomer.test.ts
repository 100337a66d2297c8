import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { readAnalytics } from '../../../src/pipeline/snapshot/read-analytics.ts';
import { slow } from '../../support/slow.ts';

const root = join(import.meta.dirname, '../../..');
const heading = '### Five questions, answered';

/** The first `sh` block under a heading. */
function scriptUnder(title: string, markdown: string): string {
  const section = markdown.split(`\n${title}\n`)[1]?.split(/^## |^### /m)[0] ?? '';
  const script = /^```sh\n([^]*?)^```$/m.exec(section)?.[1];
  if (script === undefined) throw new Error(`sql/README.md has no sh block under "${title}"`);
  return script;
}

it("the README's script leads a newcomer from nothing to the answers of five questions", slow, async () => {
  const script = scriptUnder(heading, await readFile(join(root, 'sql/README.md'), 'utf8'));
  const folder = await mkdtemp(join(tmpdir(), 'offerline-newcomer-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { OFFERLINE_DATA: _, ...environment } = process.env;
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], {
    // The compiled code is kept where other processes have left it.
    cwd: root,
    env: {
      ...environment,
      TMPDIR: folder,
      NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    },
  });
  const made = (await readdir(folder)).find((name) => existsSync(join(folder, name, 'network'))) ?? '';
  const published = join(folder, made, 'network', 'published');
  const answers = await readAnalytics(join(published, 'current'), async (query) => ({
    hottest: await query(`SELECT rank, offer_id, epc, trend FROM offer_stats_2d WHERE rank <= 5 ORDER BY rank`),
    made: await query('SELECT clicks, conversions, earnings FROM offer_stats_2d WHERE rank = 1'),
    bySite: await query(
      `SELECT site_key, count(*) AS conversions FROM conversions WHERE status = 'credited' AND strftime(credited_at, '%d') = '09' GROUP BY site_key`,
    ),
    refused: await query('SELECT path, reason, count(*) AS rows FROM rejects GROUP BY ALL ORDER BY ALL LIMIT 5'),
  }));
  const lines = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
  const shown = (...cells: unknown[]) =>
    lines.filter((line) => cells.every((cell) => line.includes(String(cell)))).length;
  expect(answers.hottest).toHaveLength(5);
  for (const { rank, offer_id, epc, trend } of answers.hottest)
    expect(shown(rank, offer_id, epc, trend), `rank ${rank as number}`).toBe(1);
  expect(answers.made.map(({ clicks, conversions, earnings }) => shown(clicks, conversions, earnings))).toEqual([1]);
  expect(answers.bySite.length).toBeGreaterThan(3);
  for (const { site_key, conversions } of answers.bySite)
    expect(shown(site_key, conversions), site_key as string).toBe(1);
  expect(answers.refused.length).toBeGreaterThan(3);
  for (const { path, reason, rows } of answers.refused) expect(shown(path, reason, rows), path as string).toBe(1);
  expect(stdout).toMatch(/^figures that moved: [1-9]/m);
});
