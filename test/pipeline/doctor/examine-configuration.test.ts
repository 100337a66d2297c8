import { chmod, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { examineSites } from '../../../src/pipeline/doctor/examine-sites.ts';
import { examineSources } from '../../../src/pipeline/doctor/examine-sources.ts';
import { examineGoneSources } from '../../../src/pipeline/doctor/gone-files.ts';
import { PullLedger } from '../../../src/sources/pull-ledger.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

it('the doctor finds sites that no run can read, and says nothing of those that it can', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  expect(examineSites(data)).toEqual([]);
  await writeFile(data.sitesFile, '{"sites": [}');
  expect(examineSites(data)).toEqual([
    {
      level: 'trouble',
      check: 'sites',
      subject: data.sitesFile,
      problem: 'is not valid JSON in line 1, column 12; nothing was changed',
      advice: expect.stringContaining('no refresh begins') as string,
      repairable: false,
    },
  ]);
});

it('the doctor finds what would keep sources from being pulled', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const found = () => examineSources(data).map(({ subject, problem }) => `${subject}: ${problem}`);
  expect(found()).toEqual([]);
  const everflow = { connector: 'everflow', secrets: { api_key: { file: '/there/is/no/such.key' } } };
  const ogads = { connector: 'ogads', secrets: { api_key: 'k', ip: '203.0.113.9', user_agent: 'x' } };
  const sources = [
    { source: 'north', ...everflow },
    { source: 'gate', ...ogads },
  ];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  expect(found()).toEqual([
    'north: sources.json: north.secrets.api_key: /there/is/no/such.key cannot be read: ENOENT',
    'gate: is "full" in offerline.json, and its lists are delta',
  ]);
  await writeFile(data.settingsFile, JSON.stringify({ sources: { gate: { mode: 'delta' } } }));
  expect(found()).toHaveLength(1);
  const reporting = { source: 'south', postback: { token: ['a-token-of-south', { env: 'NO_SUCH_TOKEN' }] } };
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [reporting] }), { mode: 0o600 });
  expect(found()).toEqual(['south: sources.json: south.postback.token: the environment has no NO_SUCH_TOKEN']);
  await writeFile(data.sourcesFile, 'broken');
  expect(found()).toEqual([expect.stringContaining('is not valid JSON') as string]);
});

it('the doctor finds a file of sources that others may read, but not by the group of a mount', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeFile(data.sourcesFile, '{"sources": []}', { mode: 0o600 });
  const found = async (mode: number) => {
    await chmod(data.sourcesFile, mode);
    return examineSources(data).map(({ subject, problem, advice }) => [subject, problem, advice]);
  };
  const problem = 'can be read by others than its owner';
  expect(await found(0o600)).toEqual([]);
  expect(await found(0o640)).toEqual([[data.sourcesFile, problem, `chmod 600 ${data.sourcesFile}`]]);
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(12_345);
  onTestFinished(() => getuid.mockRestore());
  expect(await found(0o440)).toEqual([]);
  expect(await found(0o644)).toEqual([[data.sourcesFile, problem, `chmod 640 ${data.sourcesFile}`]]);
});

it('the doctor finds that sources are gone that were pulled', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  expect(examineGoneSources(data)).toEqual([]);
  using ledger = new PullLedger(data);
  ledger.begin('net', '2026-03-10T12:00:00Z');
  expect(examineGoneSources(data)).toMatchObject([{ level: 'trouble', subject: data.sourcesFile, repairable: false }]);
  await writeFile(data.sourcesFile, '{"sources": []}');
  expect(examineGoneSources(data)).toEqual([]);
});
