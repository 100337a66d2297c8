import { describe, expect, it } from 'vitest';
import { modelQuery, withFunctions } from '../../../src/pipeline/sql/model-query.ts';

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

describe('what a model names', () => {
  const functions = new Map([
    ['half', { name: 'half', purpose: '', parameters: ['whole'], expression: 'whole / 2' }],
    [
      'share',
      {
        name: 'share',
        purpose: '',
        parameters: ['part', 'whole'],
        expression: "CASE part WHEN 'part' THEN 0 ELSE part / half(whole) END",
      },
    ],
  ]);

  it('is written into it: calls of functions, those within others too', () => {
    expect(withFunctions('SELECT half(clicks) AS a', functions)).toBe('SELECT (clicks / 2) AS a');
    expect(withFunctions("SELECT share(max(a, ')'), b.whole + 1)", functions)).toBe(
      "SELECT (CASE max(a, ')') WHEN 'part' THEN 0 ELSE max(a, ')') / ((b.whole + 1) / 2) END)",
    );
    expect(withFunctions('SELECT half(half(a))', functions)).toBe('SELECT ((a / 2) / 2)');
  });

  it('is left alone where it is no call', () => {
    const query = "SELECT half, by_half(a), 'half(a)' -- half(a) of it\nFROM half";
    expect(withFunctions(query, functions)).toBe(query);
  });

  it('has to be called with what it takes', () => {
    expect(() => withFunctions('SELECT half(a, b)', functions)).toThrow('half() takes whole, but it is given a, b');
    expect(() => withFunctions('SELECT half(a', functions)).toThrow('a call has no end');
  });

  it('precedes it: staging models, each after those that it reads', () => {
    const query = modelQuery('staging', 'conversions_as_of', { as_of: '2026-03-10T13:00:00Z' });
    const places = ['offer_keys AS (', 'offer_spans AS (', 'priced_events AS (', 'moments AS ('].map((text) =>
      query.indexOf(text),
    );
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[0]).toBe('WITH '.length);
    expect(query).not.toMatch(/\$as_of|name_part\(/);
  });
});
