import fc from 'fast-check';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../../src/serve/api/operations.ts';
import { analyticsDatabase, recordTables } from '../../support/analytics-database.ts';
import { makeCurrent, temporaryData, writeSites, writeSnapshot } from '../../support/published-snapshot.ts';
import { startService } from '../../support/running-service.ts';
import type { RunningService } from '../../support/running-service.ts';
import { offers, sites } from '../../support/small-network.ts';
import { slow } from '../../support/slow.ts';

/** A parameter as the served document has it. */
interface Described {
  in: string;
  name: string;
  required: boolean;
  allowEmptyValue?: boolean;
  schema: {
    type: string;
    enum?: string[];
    pattern?: string;
    minimum?: number;
    maximum?: number;
    minLength?: number;
    maxLength?: number;
    default?: unknown;
  };
}

let running: RunningService;
let remove: () => Promise<void>;
let now = Date.UTC(2026, 10, 20, 12, 30);
let document: any;

beforeAll(async () => {
  const temporary = await temporaryData();
  remove = temporary.remove;
  await writeSites(temporary.data, sites);
  const published = sites.map(({ site_key, commission = 0 }) => ({
    site_key,
    commission: String(commission),
    commission_changed_at: null,
  }));
  const files = { 'analytics.duckdb': await analyticsDatabase(...recordTables) };
  await writeSnapshot(temporary.data, 'one', { offers, sites: published, files });
  await makeCurrent(temporary.data, 'one');
  // So far apart that no limit is ever reached, that of failed identifications neither.
  running = await startService(temporary.data, {}, () => (now += 61_000));
  document = await running.json('/openapi.json');
});

afterAll(async () => {
  await running.service.close();
  await remove();
});

/** Parameters of the query, credentials first, which the document has as its security schemes. */
function parametersOf(path: string): Described[] {
  const { parameters = [], security } = document.paths[path].get;
  const credentials = Object.keys(security[0]).map((scheme) => document.components.securitySchemes[scheme]);
  return [
    ...credentials.map((scheme) => ({ ...scheme, required: true, schema: { type: 'string', minLength: 1 } })),
    ...parameters,
  ].filter((parameter: Described) => parameter.in === 'query');
}

/** Whether a parameter's own words allow a text in the query. */
function allows({ allowEmptyValue, schema }: Described, text: string): boolean {
  if (text === '' && allowEmptyValue === true) return true;
  if (schema.type === 'integer') {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return /^-?\d+$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
  }
  const { length } = Array.from(text);
  const { minLength = 0, maxLength = Infinity, pattern = '' } = schema;
  return (
    length >= minLength &&
    length <= maxLength &&
    new RegExp(pattern, 'u').test(text) &&
    (schema.enum?.includes(text) ?? true)
  );
}

/** Texts that a parameter's own words allow. */
function allowed({ allowEmptyValue, schema }: Described): fc.Arbitrary<string> {
  const {
    type,
    enum: words,
    pattern,
    minimum: min = -(2 ** 40),
    maximum: max = 2 ** 40,
    minLength = 0,
    maxLength = 40,
  } = schema;
  const values =
    type === 'integer'
      ? fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max)).map(String)
      : words !== undefined
        ? fc.constantFrom(...words)
        : pattern !== undefined
          ? fc.stringMatching(new RegExp(pattern))
          : fc.oneof(fc.string({ unit: 'binary', minLength, maxLength }), fc.constant('é'.repeat(maxLength)));
  return allowEmptyValue === true ? fc.oneof({ weight: 8, arbitrary: values }, fc.constant('')) : values;
}

/**
 * What people and machines write instead: numbers of other kinds, words of other parameters, days that do not exist.
 */
const mistaken = [
  '',
  ' ',
  '-1',
  '0',
  '1.0',
  '1.',
  '.5',
  '1e2',
  '+1',
  ' 1',
  '0x10',
  '١',
  '2147483648',
  '10001',
  'NaN',
  'null',
  'Offer',
  'PC',
  'USA',
  'ü',
  '\0',
  '5\n',
  '2026-02-29',
  '2024-02-29',
  '1900-02-29',
  '2000-02-29',
  '2026-04-31',
  '2026-11-20T24:00:00Z',
  '2026-11-20T23:59:60Z',
  '2026-11-20T08:00:00+18:01',
  '2026-11-20 08:00 18',
  '20261120',
  '2026-11-20\n',
  'x'.repeat(129),
  'x'.repeat(257),
];

/** Allowed texts, allowed ones with one character changed, and any others. */
function texts(parameter: Described): fc.Arbitrary<string> {
  const values = allowed(parameter);
  const changed = fc
    .tuple(values, fc.nat(), fc.string({ unit: 'binary', maxLength: 1 }))
    .map(([text, at, character]) => {
      const characters = Array.from(text);
      characters.splice(at % (characters.length + 1), 1, character);
      return characters.join('');
    });
  // Of zeros before an integer the words of JSON Schema say nothing.
  const all = fc.oneof(
    { weight: 2, arbitrary: values },
    { weight: 2, arbitrary: changed },
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  return all.filter((text) => parameter.schema.type !== 'integer' || !/^-?0\d/.test(text));
}

const namesOf = (querystring: z.ZodType) => Object.keys(z.toJSONSchema(querystring, { io: 'input' }).properties ?? {});

/** What a request is understood with, whatever becomes of it then. */
const understood = new Set([200, 'Not found', 'Unauthorized', 'authentication_failed', 'INVALID_CREDENTIALS']);

interface Answered {
  /** Status of what was asked for, else what the variant calls the error. */
  outcome: number | string;
  message: string;
}

async function ask(path: string, query: Record<string, string>): Promise<Answered> {
  const text = Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  const response = await running.get(`${path}?${text}`);
  const body: any = await response.json();
  if (response.status === 200) return { outcome: 200, message: '' };
  return {
    outcome: body.error?.code ?? body.error ?? body.title,
    message: body.error?.message ?? body.message ?? body.detail,
  };
}

/** What each operation cannot do without, from somebody whom it serves. */
function needed(path: string): Record<string, string> {
  const letter = path.charAt(1);
  const site_key = `site-${letter}`;
  if (letter === 'a')
    return { site_key, ...(path.endsWith('lookup') ? { click_id: 'c' } : { user_id: 'u', format: 'offerwall' }) };
  return { site_key, site_secret: sites.find((site) => site.site_key === site_key)?.site_secret ?? '' };
}

/** But of cursors, which mean something as an answer gave them only. */
const described = operations
  .filter(({ method }) => method === undefined)
  .map(({ path, querystring }) => [path, namesOf(querystring).filter((name) => name !== 'cursor')] as const);

describe.each(described)('%s', (path, names) => {
  test.each(names)('%s is taken where its description allows it, and else refused by its name', slow, async (name) => {
    const parameter = parametersOf(path).find((each) => each.name === name) as Described;
    // Of free text little can be mistaken.
    const { type, enum: words, pattern } = parameter.schema;
    const examples =
      type === 'integer' || words !== undefined || pattern !== undefined ? mistaken : ['', ' ', 'x'.repeat(257)];
    await fc.assert(
      fc.asyncProperty(texts(parameter), async (text) => {
        const { outcome, message } = await ask(path, { ...needed(path), [name]: text });
        const taken = understood.has(outcome);
        expect({ text, taken }).toEqual({ text, taken: allows(parameter, text) });
        expect(taken || message.includes(name), message).toBe(true);
      }),
      { numRuns: examples.length + 12, examples: examples.map((text) => [text]) },
    );
  });

  test('all that is allowed is allowed together', slow, async () => {
    const every = parametersOf(path).filter(({ name }) => !name.startsWith('site_') && name !== 'cursor');
    const requiredKeys = every.filter(({ required }) => required).map(({ name }) => name);
    const queries = fc.record(Object.fromEntries(every.map((parameter) => [parameter.name, allowed(parameter)])), {
      requiredKeys,
    });
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        expect(understood).toContain((await ask(path, { ...needed(path), ...query })).outcome);
      }),
      { numRuns: 25 },
    );
  });

  test('what is required is missed by its name', async () => {
    for (const { name, required } of parametersOf(path)) {
      const { [name]: _left, ...others } = needed(path);
      const { outcome, message } = await ask(path, others);
      expect([name, understood.has(outcome), message.includes(name)]).toEqual([name, !required, required]);
    }
  });

  test('a default is what comes without', async () => {
    const bodyOf = async (query: Record<string, string>) =>
      (await running.get(`${path}?${new URLSearchParams(query).toString()}`)).text();
    for (const { name, schema } of parametersOf(path).filter((parameter) => parameter.schema.default !== undefined)) {
      expect(await bodyOf({ ...needed(path), [name]: String(schema.default) }), name).toBe(await bodyOf(needed(path)));
    }
  });
});
