import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { createTerminal } from '../../../src/kit/logging/progress.ts';
import { visibleJson, visibleLines, visibleText } from '../../../src/kit/text/visible-text.ts';

const nasty = '\0\x07\x08\t\r\x1b[2J\x7f\x85\x9b31m\u061c\u200f\u2028\u2029\u202e\u2066';
const character = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 });
const anything = fc.string({ unit: fc.oneof(fc.constantFrom(...nasty.split(''), '\n'), character) });
const unseen = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

it('shows what would move the cursor, colour or turn a text', () => {
  const shown = String.raw`a␀␇␈␉␍␛[2J␡\u0085\u009b31m\u061c\u200f\u2028\u2029\u202e\u2066b␊c`;
  expect(visibleText(`a${nasty}b\nc`)).toBe(shown);
  expect(visibleLines('a\tb\nc')).toBe('a␉b\nc');
  expect(visibleText('ü 😀 👩‍🚀 日本 नि')).toBe('ü 😀 👩‍🚀 日本 नि');
});

it('leaves nothing of it in any text, and all of it in what JSON means', () => {
  fc.assert(
    fc.property(anything, (text) => {
      expect(visibleText(text)).not.toMatch(unseen);
      expect(visibleText(text)).not.toContain('\n');
      expect(visibleLines(text).split('\n')).toEqual(text.split('\n').map(visibleText));
      for (const indent of [0, 2]) {
        const json = visibleJson(JSON.stringify({ [text]: [text] }, null, indent));
        expect(json).not.toMatch(unseen);
        expect(JSON.parse(json)).toEqual({ [text]: [text] });
      }
    }),
  );
});

/** What a terminal, or a file, is given. */
function output(isTTY: boolean) {
  const written: string[] = [];
  const stream = { isTTY, columns: 80, write: (text: string) => written.push(text), on() {}, once() {}, emit() {} };
  return { written, output: stream as unknown as NodeJS.WriteStream };
}

it('is what log lines are written by, where a text cannot look like a line of its own either', () => {
  const text = `x${nasty}\n10:00:00 all is well`;
  for (const isTTY of [true, false]) {
    const { written, output: to } = output(isTTY);
    createLogger(to).warn({ file: text, err: new Error(`other ${text}`) }, text);
    const lines = written.join('');
    expect(lines).not.toMatch(unseen);
    expect(lines).not.toMatch(/^10:00:00 all/m);
    expect(lines).toContain('[2J');
  }
});

it('is used by progress', () => {
  const { written, output: to } = output(true);
  const { progress } = createTerminal(to);
  progress.start(`querying ${nasty}\nmore`);
  progress.finish(`${nasty}\nmore`);
  expect(written.at(-1)).toBe(`${visibleText(`querying ${nasty}\nmore`)}: ${visibleText(`${nasty}\nmore`)}\n`);
});
