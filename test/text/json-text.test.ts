import { describe, expect, it } from 'vitest';
import { duplicateKey, JsonNumber, parseJson } from '../../src/text/json-text.ts';

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
});

describe('duplicate keys', () => {
  it.each([
    ['{"a":1,"b":2,"a":3}', 'a'],
    ['{"a":[{"payout":1,"payout" : 2}]}', 'payout'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"a":{"b":1},"c":[],"a":2}', 'a'],
    [String.raw`{"q\"x":1,"q\"x":2}`, 'q"x'],
  ])('are found in %s', (text, key) => {
    expect(duplicateKey(text)).toBe(key);
  });

  it.each([
    '{"a":{"b":1},"b":{"b":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"b","b":"a"}',
    '{"a":"{\\"a\\":1}"}',
    '{"a":"x:y","b":["a","a"]}',
    '5',
  ])('are not seen in %s', (text) => {
    expect(duplicateKey(text)).toBeUndefined();
  });
});
