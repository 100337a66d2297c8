import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { readDocument } from '../../../src/kit/config/json-document.ts';
import { settingsSchema } from '../../../src/kit/config/settings.ts';
import { sitesSchema } from '../../../src/kit/sites/sites.ts';
import { jsonPlaces, linePlace } from '../../../src/kit/text/json-places.ts';

function mistakesIn(schema: z.ZodType, text: string): string {
  try {
    readDocument(schema, text, 'file.json');
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('no mistake was found');
}

it.each([
  ['{\n "port": "80"\n}', '  line 2: port is a text: a number without quotes is wanted'],
  ['{\n\n "port": 80.5}', '  line 3: port is a number with a fraction: a whole number without quotes is wanted'],
  ['{"port": 70000}', '  line 1: port is more than 65535'],
  ['{"host": 5}', '  line 1: host is a whole number: a text in quotes is wanted'],
  ['{"sources": {\n"net": {"mode": "deltas"}}}', '  line 2: sources.net.mode is not "full" or "delta"'],
  ['{"sources": []}', '  line 1: sources is a list: an object in braces is wanted'],
  ['{"prot": 80}', 'line 1: has a key that nothing reads: prot; there are host, port, '],
  ['[]', '  line 1: is a list: an object in braces is wanted'],
  ['{"rates": {\n"eur": "1.08"}}', '  line 2: rates.eur is not an ISO 4217 code such as EUR'],
  ['{"rates": {"EUR": "0.00"}}', '  line 1: rates.EUR is not a plain decimal above 0 in quotes such as "1.08"'],
  [
    '{"duckdb": {"memory_limit": "4 gigs"}}',
    '  line 1: duckdb.memory_limit is not an amount such as "4GB" or "512MiB"',
  ],
  ['{"tracking_url": "localhost:8082"}', '  line 1: tracking_url is not an address such as https://name.example'],
  ['{"public_url": "offers.example:443"}', '  line 1: public_url is not an address such as https://name.example'],
  ['{"port": 1,\n "port": 2}', 'has a key twice in one object, again in line 2, column 2: take one of them out'],
  ['{"files": [], "logs": {"clicks": {}, "\\u0063licks": {}}}', 'again in line 1, column 38'],
])('offerline.json %j: %s', (text, problem) => {
  expect(mistakesIn(settingsSchema, text)).toContain(problem);
  expect(mistakesIn(settingsSchema, text)).not.toMatch(/Invalid|expected|received|✖|→/);
});

it.each([
  ['{"sites": [\n{"site_key": "a"}]}', '  line 2: sites[0].site_secret is missing: a text in quotes is wanted'],
  [
    '{"sites": [\n{"site_key": "a",\n "site_secret": "s3cret",\n "commission": "0.2"}]}',
    '  line 4: sites[0].commission is a text: a number without quotes is wanted',
  ],
  ['{"sites": [{"site_key": "", "site_secret": "s3cret"}]}', '  line 1: sites[0].site_key is empty'],
  ['{"sites": [{"site_key": "a",\n"site_secret": "s3cret",\n}]}', 'is not valid JSON in line 3, column 1'],
  [
    '{"sites": [{"site_key": "a", "site_secret": "s3cret"},\n{"site_key": "a", "site_secret": "s3cret"}]}',
    '  line 2: sites[1].site_key is that of an entry before it, too',
  ],
])('sites.json %j: %s', (text, problem) => {
  const message = mistakesIn(sitesSchema, text);
  expect(message).toContain(problem);
  expect(message).not.toContain('s3cret');
});

it.each([
  ['', 'it is empty'],
  [' \n', 'it is empty'],
  ['{"a": 1', 'line 1, column 8: the text ends before its brackets are closed'],
  ['{"a": 1,\n}', 'line 2, column 1: the comma before it is one too many'],
  ['{"a": [1, ]}', 'line 1, column 11: the comma before it is one too many'],
  ['{\n// ours\n"a": 1}', 'line 2, column 1: JSON has no comments'],
  ["{'a': 1}", 'line 1, column 2: keys and texts are between plain double quotes'],
  ['{“a”: 1}', 'line 1, column 2: keys and texts are between plain double quotes'],
  ['{a: 1}', 'line 1, column 2: keys and texts are between double quotes'],
  ['{"a": True}', 'line 1, column 7: the words without quotes are true, false and null'],
  ['{"a": 1\n"b": 2}', 'line 2, column 1: a comma or a colon is missing before it'],
  ['{"a": [{} {}]}', 'line 1, column 11: a comma is missing before it'],
  ['{"a": 0,25}', 'line 1, column 9: a number has a decimal point'],
  ['{"a": .25}', 'line 1, column 7: a number begins with a digit or a minus'],
  ['{"a": "C:\\data"}', 'line 1, column 7: a backslash in a text is written twice'],
  ['{"a": "one\ntwo"}', 'line 1, column 7: this text has no end in its line'],
  ['{\u00a0"a": 1}', 'line 1, column 2: this blank is none of JSON'],
  ['{\0"\0', 'line 1, column 2: a NUL is no JSON; save the file as UTF-8'],
])('a slip of the pen %j: %s', (text, mistake) => {
  expect(mistakesIn(z.looseObject({}), text)).toContain(mistake);
});

it('law: the place of each value of a text begins the value, and whatever JSON.parse refuses is found broken', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.constantFrom(',', '}', '"', 'x', ''), (text, at, mark) => {
      const spaced = text.replaceAll(/([,:[{])(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)/g, '$1\n ');
      for (const each of [text, isJson(spaced) ? spaced : text]) {
        const places = jsonPlaces(each);
        expect(places.brokenAt).toBeUndefined();
        for (const [path, value] of valuesIn(JSON.parse(each))) {
          const rest = each.slice(places.offsetOf(path));
          expect(
            rest.startsWith(
              Array.isArray(value) ? '[' : typeof value === 'object' && value !== null ? '{' : (rest[0] ?? ''),
            ),
          ).toBe(true);
          expect(rest.startsWith('"')).toBe(typeof value === 'string');
        }
      }
      const broken = text.slice(0, at % (text.length + 1)) + mark + text.slice((at % (text.length + 1)) + 1);
      expect(jsonPlaces(broken).brokenAt === undefined).toBe(isJson(broken));
    }),
  );
});

it('a place is named by line and column', () => {
  const text = '{\n  "a": [1,\n 2 3]}';
  expect(linePlace(text, jsonPlaces(text).brokenAt ?? 0)).toEqual({ line: 3, column: 4 });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** All values with their paths. A name that is there twice has the place of its last value, as in what is parsed. */
function valuesIn(value: unknown, path: PropertyKey[] = []): [PropertyKey[], unknown][] {
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [[path, value], ...members.flatMap(([name, member]) => valuesIn(member, [...path, name]))];
}
