import { expect, it } from 'vitest';
import { readSecret, Redactor } from '../../../src/kit/config/secrets.ts';

it.each([
  ['plain and more than once', ['secret'], 'a secret, and a secretsecret', 'a •••, and a ••••••'],
  ['too short to be taken out of all texts', ['abc'], 'abc', 'abc'],
  ['percent-encoded, in either case', ['a b/ü'], 'a%20b%2F%C3%BC a+b%2F%C3%BC a%20b%2f%c3%bc', '••• ••• •••'],
  [
    'percent-encoded as RFC 3986, forms, Python and Go do it, and in part',
    ["It's! (a*b)/~c=="],
    'It%27s%21%20%28a%2Ab%29%2F~c%3D%3D It%27s%21+%28a*b%29%2f%7ec%3d%3d It%27s%21%20%28a%2Ab%29/~c%3D%3D It%27s!%20(a*b)%2F~c==',
    '••• ••• ••• •••',
  ],
  [
    'percent-encoded in JSON',
    ['a/ü!b'],
    String.raw`{"url":"https:\/\/h\/?k=a%2F%c3%bc%21b\u0026x"}`,
    String.raw`{"url":"https:\/\/h\/?k=•••\u0026x"}`,
  ],
  [
    'with codes of its own',
    ['a%41b%zz', String.raw`c\nd`],
    String.raw`a%41b%zz a%2541b%25zz c\nd c\\nd c%5Cnd`,
    '••• ••• ••• ••• •••',
  ],
  ['one within another, encoded', ['within', 'one/within (another)'], 'one%2Fwithin%20%28another%29', '•••'],
  ['in JSON, plain ASCII too', ['"q"ü!'], String.raw`\"q\"ü! \"q\"\u00fc!`, '••• •••'],
  ['in JSON as PHP and Go write it', ['a/b?c&d'], String.raw`a\/b?c&d a/b?c\u0026d a\/b?c\u0026d`, '••• ••• •••'],
  ['as base64', ['secret'], Buffer.from('secret').toString('base64'), '•••'],
  ['as base64, percent-encoded', ['>>>???!'], encodeURIComponent(Buffer.from('>>>???!').toString('base64')), '•••'],
  ['one within another', ['within', 'one within another'], 'one within another, within', '•••, •••'],
  ['one that begins in another', ['first-one', 'one-second'], 'a first-one-second b', 'a ••• b'],
  ['half a surrogate', ['\ud800-secret'], 'x \ud800-secret', 'x •••'],
])('a secret is taken out of a text: %s', (_how, secrets, text, shown) => {
  expect(new Redactor(secrets).redact(text)).toBe(shown);
});

it('at the end of a text that is cut the beginning of a secret is taken out; four characters of it are a beginning', () => {
  const redactor = new Redactor(['the-secret', 'other']);
  expect(redactor.redact('a the-sec')).toBe('a the-sec');
  expect(redactor.redact('a the-sec', { isCut: true })).toBe('a •••');
  expect(redactor.redact('a the', { isCut: true })).toBe('a the');
  expect(redactor.redact('the-secret othe', { isCut: true })).toBe('••• •••');
  for (const cut of [
    'aa(b)ü',
    'aa%28b%',
    'aa%28b%2',
    'aa%28b%29%C',
    'aa%28b%29%C3%b',
    '\\u0061a(b)\\',
    '\\u0061a(b)\\u00f',
  ])
    expect(new Redactor(['aa(b)ü(c)']).redact(`? ${cut}`, { isCut: true })).toBe('? •••');
});

it('one of hundreds is taken out of a long text', () => {
  const secrets = Array.from({ length: 500 }, (_, index) => `secret-number-${index}-of-many`);
  const text = '{"a":"some text","b":123}'.repeat(40_000);
  expect(new Redactor(secrets).redact(`${text}secret-number-471-of-many`)).toBe(`${text}•••`);
});

it('of the environment is read without the blanks and line ends around it, as one of a file is', () => {
  expect(readSecret('a.key', { env: 'KEY' }, { KEY: ' the key\r\n' })).toBe('the key');
  expect(() => readSecret('a.key', { env: 'KEY' }, { KEY: ' \n' })).toThrow('a.key: the environment has no KEY');
});
