import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { quoted, quotedPath } from '../../../src/kit/text/sql-text.ts';
import { slow } from '../../support/slow.ts';

const nameOfTrouble = fc.string({
  unit: fc.constantFrom(
    '[',
    ']',
    '*',
    '?',
    '\\',
    '-',
    '!',
    '^',
    "'",
    '"',
    '#',
    '%',
    '{',
    ',',
    '}',
    ';',
    '$',
    ' ',
    '\n',
    'a',
    'ü',
    '😀',
  ),
});

it('names one file to the readers, whatever its folder and the folders beside it are called', slow, async () => {
  const root = mkdtempSync(join(tmpdir(), 'offerline-'));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  onTestFinished(() => {
    connection.closeSync();
    instance.closeSync();
    rmSync(root, { recursive: true });
  });
  const usable = nameOfTrouble.filter((name) => name !== '' && Buffer.byteLength(name) < 200);
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(usable, { minLength: 1, maxLength: 5 }), async (names) => {
      // Apart from each other only the three characters between which the backslash is found cannot be told.
      fc.pre(new Set(names.map((name) => name.replaceAll(/[[\]\\]/g, '['))).size === names.length);
      const folder = join(root, String(number++));
      for (const name of names) {
        mkdirSync(join(folder, name), { recursive: true });
        writeFileSync(join(folder, name, 'events.csv'), 'line\n');
      }
      for (const name of names) {
        const path = join(folder, name, 'events.csv');
        const read = `FROM read_csv(${quotedPath(path)}, columns = {line: 'VARCHAR'}, header = false, auto_detect = false, filename = true)`;
        const files = (await connection.runAndReadAll(`SELECT filename ${read}`)).getRows().flat();
        expect(files).toEqual([path]);
      }
    }),
    { numRuns: 200 },
  );
});

it('a text is the same in a statement, whatever it holds', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  onTestFinished(() => connection.closeSync());
  for (const text of ["it's", '\0', 'a\0b', "\0'\0", "'; DROP TABLE x --", String.raw`\0 \'`, '😀', '']) {
    const result = await connection.runAndReadAll(
      `SELECT encode(${quoted(text)}) = encode($1), length(${quoted(text)})`,
      [text],
    );
    expect([text, ...(result.getRows()[0] ?? [])]).toEqual([text, true, BigInt(Array.from(text).length)]);
  }
});
