import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { settingNames } from '../src/config/settings.ts';
import { analyticsTables, analyticsViews } from '../src/snapshot/analytics.ts';
import { createLogger } from '../src/stage/log.ts';
import { noProgress } from '../src/stage/progress.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const section = (title: string) => readme.split(/^## /m).find((text) => text.startsWith(title)) ?? '';

const program = createProgram({ console: { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress }, print: () => {} });

/** Every command that does something, as it is typed. */
function commandsOf(command: Command, words: string[] = []): { words: string; command: Command }[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  if (children.length === 0) return [{ words: words.join(' '), command }];
  return children.flatMap((child) => commandsOf(child, [...words, child.name()]));
}

describe('the README', () => {
  it.each(commandsOf(program).map(({ words, command }) => [words, command] as const))('tells of `%s` and its options', (words, command) => {
    const row = section('Commands').split('\n').find((line) => line.startsWith('|') && line.includes(`\`${words}`));
    expect(row, `a row for ${words}`).toBeDefined();
    const common = ['--json', '--as-of', '--allow-older', '--port', '--host'];
    const own = command.options.map(({ long }) => long ?? '').filter((long) => !common.includes(long));
    expect(own.filter((long) => !row?.includes(long))).toEqual([]);
  });

  it.each(settingNames)('tells of the setting %s', (name) => {
    expect(section('Configuration')).toContain(`\`${name}\``);
  });

  it.each([...analyticsTables, ...analyticsViews])('tells of the table %s and its grain', (name) => {
    expect(section("The analysts' file")).toMatch(new RegExp(`^\\| \`${name}\` \\| one row per `, 'm'));
  });

  it('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    const named = [...readme.matchAll(/npm (?:run (?:-s )?)?(\w+)/g)].map(([, name]) => name as string).filter((name) => name !== 'on');
    expect(named).toContain('start');
    for (const name of named) expect(Object.keys(scripts), `npm run ${name}`).toContain(name);
  });

  it('names only commands that exist', () => {
    const known = new Set(commandsOf(program).map(({ words }) => words.split(' ')[0]));
    const typed = [...readme.matchAll(/offerline -- (\w+)/g)].map(([, word]) => word as string);
    expect(typed.length).toBeGreaterThan(2);
    for (const word of typed) expect(known).toContain(word);
  });

  it('draws the layers that src has', () => {
    const drawn = /^errors config effects stage \|.*$/m.exec(readme)?.[0].split(/[ |]+/) ?? [];
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(drawn.filter((name) => name !== 'pipelines').toSorted()).toEqual(folders.toSorted());
  });
});
