import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { endOf } from '../../support/commands.ts';
import { slow } from '../../support/slow.ts';

it('a rule that names no offer is a warning of the run, with its line and what is meant', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-11-20T12:00:00Z'));
  await pipeline.landOffers('north', [
    { external_id: 'one', id: 7, title: 'One', description: '', payout: '1', categories: ['Games'] },
  ]);
  const site = {
    site_key: 'wall',
    site_secret: 'a-secret-of-the-site-0123456789',
    offers: { allow: [{ source: 'north' }], deny: [{ category: 'Gmaes' }, { offer: 8 }] },
    commissions: [{ source: 'nroth', commission: 0.5 }],
  };
  await writeFile(pipeline.data.sitesFile, JSON.stringify({ sites: [site] }, null, 1));
  const { code, stderr } = await endOf(pipeline.data.root, 'run', 'refresh');
  expect(code).toBe(0);
  const warnings = stderr
    .split('\n')
    .filter((line) => line.includes('names no offer'))
    .map((line) => (JSON.parse(line) as { msg: string }).msg.replace(pipeline.data.sitesFile, 'sites.json'));
  expect(warnings).toEqual([
    'sites.json, line 13: offers.deny.0 names no offer of the catalog: category:Gmaes; did you mean games?',
    'sites.json, line 16: offers.deny.1 names no offer of the catalog: offer:8',
    'sites.json, line 22: commissions.0 names no offer of the catalog: source:nroth; did you mean north?',
  ]);
});
