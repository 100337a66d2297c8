import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readLines } from '../../../src/kit/files/read-lines.ts';

async function linesIn(content: string | Buffer): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'offerline-lines-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file'), content);
  const lines: string[] = [];
  await readLines(join(folder, 'file'), (line) => void lines.push(line));
  return lines;
}

it('gives each line, empty ones and a last one without an end too', async () => {
  expect(await linesIn('')).toEqual([]);
  expect(await linesIn('one\n')).toEqual(['one']);
  expect(await linesIn('one\n\ntwo')).toEqual(['one', '', 'two']);
});

it('gives lines whole that are read in parts, also within a character', async () => {
  // Three bytes each: parts end behind the first, the second and the third.
  const lines = Array.from({ length: 40 }, (_, n) => '€'.repeat(100_000 + n));
  expect(await linesIn(`${lines.join('\n')}\n`)).toEqual(lines);
});

it('passes over a line of more than 16 MiB, and goes on behind it', async () => {
  const zeros = Buffer.alloc(16 * 1024 * 1024 + 1);
  expect(await linesIn(Buffer.concat([Buffer.from('one\n'), zeros, Buffer.from('\ntwo\n'), zeros]))).toEqual([
    'one',
    'two',
  ]);
});
