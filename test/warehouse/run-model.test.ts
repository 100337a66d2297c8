import { expect, it } from 'vitest';
import { modelQuery } from '../../src/warehouse/run-model.ts';

it('writes moments into a query as literals of their type and days as text', () => {
  const clicks = modelQuery('staging', 'clicks_as_of', {
    from: '2026-03-09T00:00:00Z',
    as_of: '2026-03-10T13:00:00.000001Z',
  });
  expect(clicks).toContain(`hour >= TIMESTAMPTZ '2026-03-09T00:00:00Z'`);
  expect(clicks).toContain(`clicked_at <= TIMESTAMPTZ '2026-03-10T13:00:00.000001Z'`);
  expect(clicks).not.toMatch(/\$(from|as_of)/);
  expect(modelQuery('marts', 'report_daily', { report_date: '2026-03-10' })).toContain(
    `'2026-03-10'::DATE AS report_date`,
  );
});

it('refuses a query that asks for what nobody gives', () => {
  expect(() => modelQuery('staging', 'clicks_as_of', { from: '2026-03-09T00:00:00Z' })).toThrow('asks for $as_of');
});
