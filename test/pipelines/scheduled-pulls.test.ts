import { expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { clockFrom, dataWith, serve, terminal } from '../support/declared-network.ts';

it('a scheduled pull passes over a source whose pull before is still under way', async () => {
  let answerSlow = () => {};
  const slowAnswer = new Promise<void>((resolve) => (answerSlow = resolve));
  let asked = () => {};
  const slowIsAsked = new Promise<void>((resolve) => (asked = resolve));
  const url = await serve(async ({ pathname }) => {
    if (pathname === '/slow') asked();
    if (pathname === '/slow') await slowAnswer;
    return JSON.stringify([{ id: '1', title: 'One', payout: '1' }]);
  });
  const source = (name: string) => ({
    source: name,
    connector: 'http',
    base_url: `${url}/${name}`,
    offers: { fields: { external_id: 'id', title: 'title', payout: 'payout' } },
  });
  const data = await dataWith(source('slow'), source('good'));
  const pull = (names: string[] = []) =>
    pullSources({ data, terminal, scheduled: true, names }, realEffects, clockFrom(Date.parse('2026-11-20T12:00:00Z')));
  const before = pull(['slow']);
  await slowIsAsked;
  expect(await pull()).toMatchObject([{ source: 'good', status: 'done' }]);
  expect(await pull(['slow'])).toEqual([]);
  answerSlow();
  expect(await before).toMatchObject([{ source: 'slow', status: 'done' }]);
});
