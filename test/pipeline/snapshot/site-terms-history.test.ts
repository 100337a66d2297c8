import { expect, it } from 'vitest';
import type { Site } from '../../../src/kit/sites/sites.ts';
import { recordSiteTerms } from '../../../src/pipeline/snapshot/content/site-terms-history.ts';
import { LogLanding } from '../../support/log-landing.ts';

const site = (site_key: string, commission: number, own: Partial<Site> = {}) =>
  ({ site_key, commission, reward_rate: 1, ...own }) as Site;
const first = '2026-03-09T10:00:00Z';
const later = '2026-03-09T11:00:00Z';

it('a change counts from the run on, and follows the one before it whatever the as-of', async () => {
  await using warehouse = await LogLanding.create();
  const { state } = warehouse;
  await recordSiteTerms(state, [site('a', 0.1), site('b', 0), site('c', 1e-6)], first);
  await recordSiteTerms(state, [site('a', 0.1), site('b', 0.25)], later);
  await recordSiteTerms(state, [site('a', 0.2), site('b', 0.3), site('d', 1)], first);
  expect(await warehouse.query('SELECT site_key, valid_from, commission FROM site_terms ORDER BY ALL')).toEqual([
    { site_key: 'a', valid_from: first, commission: '0.100000' },
    { site_key: 'a', valid_from: '2026-03-09T10:00:00.000001Z', commission: '0.200000' },
    { site_key: 'b', valid_from: first, commission: '0.000000' },
    { site_key: 'b', valid_from: later, commission: '0.250000' },
    { site_key: 'b', valid_from: '2026-03-09T11:00:00.000001Z', commission: '0.300000' },
    { site_key: 'c', valid_from: first, commission: '0.000001' },
    { site_key: 'd', valid_from: first, commission: '1.000000' },
  ]);
});

it('thousands of new sites cost a few statements', async () => {
  await using warehouse = await LogLanding.create();
  const { connection } = warehouse.state;
  let statements = 0;
  const run = connection.run.bind(connection);
  connection.run = (...call: Parameters<typeof run>) => {
    statements++;
    return run(...call);
  };
  await recordSiteTerms(
    warehouse.state,
    Array.from({ length: 2000 }, (_, index) => site(`s${index}`, 0.5)),
    first,
  );
  expect(statements).toBeLessThan(20);
  expect(await warehouse.query('SELECT count(*) AS sites FROM site_terms')).toEqual([{ sites: 2000 }]);
});

it('changed rules and commissions are new terms, in another order or spelling they are not', async () => {
  await using warehouse = await LogLanding.create();
  const { state } = warehouse;
  const terms = (own: Partial<Site>) => recordSiteTerms(state, [site('a', 0.1, own)], first);
  const count = async () => (await warehouse.query('FROM site_terms')).length;
  await terms({
    offers: { deny: [{ category: 'Games' }, { source: 'n' }] },
    commissions: [{ offer: 2, commission: 0.5 }],
  });
  expect(await count()).toBe(1);
  await terms({
    offers: { deny: [{ source: 'n' }, { category: 'gAMES' }] },
    commissions: [{ offer: 2, commission: 0.5 }],
  });
  expect(await count()).toBe(1);
  await terms({ offers: { deny: [{ source: 'n' }] }, commissions: [{ offer: 2, commission: 0.5 }] });
  await terms({ offers: { deny: [{ source: 'n' }] }, commissions: [{ source: 'n', commission: 0.5 }] });
  expect(await count()).toBe(3);
});

it('a changed rate of rewards is new terms, as is the first that is known', async () => {
  await using warehouse = await LogLanding.create();
  const { state } = warehouse;
  await recordSiteTerms(state, [site('a', 0.1)], first);
  await state.db.updateTable('site_terms').set({ reward_rate: null }).execute();
  for (const reward_rate of [2.5, 2.5, 0.000001])
    await recordSiteTerms(state, [site('a', 0.1, { reward_rate })], later);
  expect(await warehouse.query('SELECT valid_from, commission, reward_rate FROM site_terms ORDER BY ALL')).toEqual([
    { valid_from: first, commission: '0.100000', reward_rate: null },
    { valid_from: later, commission: '0.100000', reward_rate: '2.500000' },
    { valid_from: '2026-03-09T11:00:00.000001Z', commission: '0.100000', reward_rate: '0.000001' },
  ]);
});
