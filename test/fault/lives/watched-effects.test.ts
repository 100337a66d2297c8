import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FileEffects } from '../../../src/kit/files/effects.ts';
import { watchedEffects, type StepMoment } from './watched-effects.ts';

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offerline-effects-'));
  writeFileSync(at('full'), 'eight by');
});
afterAll(() => rm(folder, { recursive: true }));

let logs = 0;

/** One call of each, where another one before it does not matter. */
const calls: { [Name in keyof FileEffects]: (files: FileEffects) => Promise<unknown> } = {
  makeDirectory: (files) => files.makeDirectory(at('made/deep')),
  syncFile: (files) => files.syncFile(at('full'), 'a step'),
  syncDirectory: (files) => files.syncDirectory(folder, 'a step'),
  rename: (files) => {
    writeFileSync(at('old name'), '');
    return files.rename(at('old name'), at('new name'), 'a step');
  },
  hardLink: (files) => files.hardLink(at('full'), at('hard link'), 'a step'),
  symbolicLink: (files) => files.symbolicLink('full', at('symbolic link'), 'a step'),
  copyFile: (files) => files.copyFile(at('full'), at('copy'), 'a step'),
  writeFile: (files) => files.writeFile(at('written'), 'eight by', 'a step'),
  remove: (files) => files.remove(at('nothing'), 'a step'),
  openLog: async (files) => {
    const log = await files.openLog(at(`log ${++logs}`), 'a step', true);
    await log.append(Buffer.from('eight by'), 'another step');
    await log.close();
  },
  freeBytes: (files) => files.freeBytes(folder),
};
const whole: StepMoment[] = ['before', 'after'];
const withHalf: StepMoment[] = ['before', 'half', 'after'];
const moments: { [Name in keyof FileEffects]: StepMoment[] } = {
  makeDirectory: whole,
  syncFile: whole,
  syncDirectory: whole,
  rename: whole,
  hardLink: whole,
  symbolicLink: whole,
  copyFile: withHalf,
  writeFile: withHalf,
  remove: whole,
  // Opened, then added to.
  openLog: [...whole, ...withHalf],
  freeBytes: [],
};

it.each(Object.keys(calls) as (keyof FileEffects)[])('tells of each moment of %s', async (name) => {
  const told: StepMoment[] = [];
  await calls[name](watchedEffects(0, ({ moment }) => void told.push(moment)).files);
  expect(told).toEqual(moments[name]);
});

it.each([
  ['copyFile', 'copy'],
  ['writeFile', 'written'],
] as const)('half-way through %s half of the file is there, and then all of it', async (name, file) => {
  const found: string[] = [];
  await calls[name](
    watchedEffects(0, ({ moment }) => void (moment === 'before' || found.push(readFileSync(at(file), 'utf8')))).files,
  );
  expect(found).toEqual(['eigh', 'eight by']);
});
