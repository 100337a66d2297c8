import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateKey, JsonNumber, jsonText, parseJson, type JsonValue } from '../../../src/kit/text/json-text.ts';

describe('JSON with exact numbers', () => {
  it('keeps numbers as they were written, at any depth', () => {
    expect(parseJson('{"payout":0.3000000000000000001,"events":[{"payout":1.50},1e3]}')).toEqual({
      payout: new JsonNumber('0.3000000000000000001'),
      events: [{ payout: new JsonNumber('1.50') }, new JsonNumber('1e3')],
    });
  });

  it.each(['', '{', "{'a':1}", '{"a":1,}', '[1] x', '{"a":NaN}', '{"a":01}'])('has nothing for %j', (text) => {
    expect(parseJson(text)).toBeUndefined();
  });

  it.each(['1', '1.50'])(
    'of values nested as deep as it reads, all can be done; deeper ones are none: %s',
    (number) => {
      for (const [open, close] of [
        ['{"a":', '}'],
        ['[', ']'],
      ] as const) {
        const nested = (depth: number) => open.repeat(depth) + number + close.repeat(depth);
        const value = parseJson(nested(1000)) as JsonValue;
        expect(jsonText(value)).toBe(nested(1000));
        expect(duplicateKey(nested(1000), value)).toBeUndefined();
        for (const depth of [1001, 3500, 100_000]) expect(parseJson(nested(depth))).toBeUndefined();
      }
    },
  );
});

it('keeps the digits of every number, however it is written', () => {
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(
        fc.constantFrom('0', '1', '10', '123456789', '1234567890', '999999999999999', '1234567890123456'),
        fc.nat().map(String),
      ),
      fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,20}$/)),
      fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.stringMatching(/^[eE][+-]?[0-9]{1,2}$/)),
    )
    .map((parts) => parts.join(''));
  const space = fc.constantFrom('', ' ', '\n\t');
  const wrapped = fc.tuple(number, number, space).map(([one, other, gap]) => ({
    one,
    other,
    text: `${gap}{"a"${gap}:${gap}${one}${gap},"b":[${gap}${other},"x:1.0"${gap}]}`,
  }));
  fc.assert(
    fc.property(wrapped, ({ one, other, text }) => {
      expect(parseJson(text)).toEqual({ a: new JsonNumber(one), b: [new JsonNumber(other), 'x:1.0'] });
      expect(parseJson(one)).toEqual(new JsonNumber(one));
    }),
    { numRuns: 3000 },
  );
});

describe('duplicate keys', () => {
  it.each([
    ['{"a":1,"b":2,"a":3}', 'a'],
    ['{"a":[{"payout":1,"payout" : 2}]}', 'payout'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"a" :1,"a"\t:2}', 'a'],
    ['{"a":"x\\":","b":1,"b":1}', 'b'],
    ['{"a":{"b":1},"c":[],"a":2}', 'a'],
    [String.raw`{"q\"x":1,"q\"x":2}`, 'q"x'],
  ])('are found in %s', (text, key) => {
    expect(duplicateKey(text, parseJson(text) as JsonValue)).toBe(key);
  });

  it.each([
    '{"a":{"b":1},"b":{"b":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"b","b":"a"}',
    '{"a":"{\\"a\\":1}"}',
    '{"a":"x:y","b":["a","a"]}',
    '5',
  ])('are not seen in %s', (text) => {
    expect(duplicateKey(text, parseJson(text) as JsonValue)).toBeUndefined();
  });

  it.each(['x', String.raw`\"`])('are found behind a string of millions of %s', (character) => {
    const text = `{"a":"${character.repeat(9_000_000)}\\":","b":1,"b":2}`;
    expect(duplicateKey(text, { a: '', b: '' })).toBe('b');
  });
});
