import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { settingNames } from '../src/kit/config/settings.ts';
import { analyticsTables, analyticsViews } from '../src/pipeline/snapshot/content/published-tables.ts';
import { createLogger } from '../src/kit/logging/log.ts';
import { noProgress } from '../src/kit/logging/progress.ts';

const root = join(import.meta.dirname, '..');
const readmes = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*README.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '')
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const program = await createProgram({
  terminal: { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress },
  print: () => {},
});

/** What stands under a title, in whichever README that is. */
function section(title: string): string {
  const found = readmes.flatMap(({ text }) => text.split(/^##? /m)).filter((part) => part.startsWith(`${title}\n`));
  if (found.length !== 1) throw new Error(`${found.length} sections of READMEs are titled "${title}"`);
  return found.join('');
}

/** The rows of a section's tables, by each of the names in their first cells. */
function rowsOf(title: string): Map<string, string> {
  const rows = section(title)
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  return new Map(rows.flatMap((row) => codeIn(row.split(' | ')[0] ?? '').map((name) => [name, row] as const)));
}

/** Pieces of code within lines. */
function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** Every command that does something, as it is typed; those within others before these. */
function commandsOf(command: Command, words: string[] = []): { words: string; command: Command }[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  const within = children.flatMap((child) => commandsOf(child, [...words, child.name()]));
  // Commander tells nobody else whether a command with others in it does something by itself.
  const isOne = children.length === 0 || Reflect.get(command, '_actionHandler') !== null;
  return isOne ? [...within, { words: words.join(' '), command }] : within;
}
const commands = commandsOf(program);

function optionsIn(text: string): string[] {
  return [...text.matchAll(/--[a-z][a-z-]*/g)].map(([option]) => option);
}

/** What is wrong with a command as it is typed, such as `sites add <site_key> [--pending]`: its words, or an option. */
function mistakesOf(typed: string): string[] {
  const code = typed.replaceAll(/"[^"]*"/g, '""').replace(/ #.*/, '');
  // As far as they are words: what follows may be an argument.
  const words = /^[a-z]+(?: [a-z]+)*/.exec(code)?.[0] ?? '';
  const known = commands.find((each) => words === each.words || words.startsWith(`${each.words} `));
  if (known === undefined) return [`\`${typed}\` is no command`];
  const options = ['--help', ...known.command.options.map(({ long }) => long)];
  return optionsIn(code)
    .filter((option) => !options.includes(option))
    .map((option) => `\`${known.words}\` has no ${option}`);
}

/** What is wrong with the commands that a text has one type, in a line of a block of code or within a sentence. */
function mistypedCommands(text: string): string[] {
  return typedCommands(text).flatMap(mistakesOf);
}

function typedCommands(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n([^]*?)^```/gm)].map(([, block = '']) => block);
  const lines = [...codeIn(text.replaceAll(/^```[^]*?^```/gm, '')), ...blocks.flatMap((block) => block.split('\n'))];
  return lines.flatMap((line) => /^(?:npm run (?:-s )?)?offerline (?:-- )?([a-z].*)/.exec(line)?.[1] ?? []);
}

/** Scripts that a text has one type and package.json lacks. */
function missingScripts(text: string): string[] {
  return typedScripts(text).filter((name) => !Object.hasOwn(scripts, name));
}

function typedScripts(text: string): string[] {
  return [...text.matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(start|test)\b)/g)].map(
    ([, run, short]) => run ?? short ?? '',
  );
}

describe('the README of the repository and those of its folders', () => {
  it.each(commands.map(({ words, command }) => [words, command] as const))(
    'tell of `%s` and its options',
    (words, command) => {
      const row = [...rowsOf('Commands')].find(([typed]) => typed === words || typed.startsWith(`${words} `))?.[1];
      expect(row, `a row for ${words}`).toBeDefined();
      const common = ['--json', '--as-of', '--allow-older', '--port', '--host'];
      const own = command.options.map(({ long }) => long ?? '').filter((long) => !common.includes(long));
      const told = optionsIn(row ?? '');
      expect(own.filter((long) => !told.includes(long))).toEqual([]);
    },
  );

  it('tell of commands that there are, with options that they have', () => {
    expect([...rowsOf('Commands').keys()].flatMap(mistakesOf)).toEqual([]);
  });

  it('tell of the settings, all of them and no others', () => {
    expect([...rowsOf('Configuration').keys()].toSorted()).toEqual(settingNames.toSorted());
  });

  it('tell of the analysts’ tables and their grain, all of them and no others', () => {
    const rows = rowsOf("The analysts' file");
    expect([...rows.keys()].toSorted()).toEqual([...analyticsTables, ...analyticsViews].toSorted());
    expect([...rows].filter(([name, row]) => !row.startsWith(`| \`${name}\` | one row per `))).toEqual([]);
  });
});

describe.each(readmes)('$path', ({ text }) => {
  it('has one type only scripts that package.json has', () => {
    expect(missingScripts(text)).toEqual([]);
  });

  it('has one type only commands that there are, with options that they have', () => {
    expect(mistypedCommands(text)).toEqual([]);
  });
});

it('a script, a command or an option that is gone would be found out', () => {
  expect(
    missingScripts('`npm start`, `npm run -s test:crash -- --rounds 200`, or npm on a day without `npm ci`'),
  ).toEqual([]);
  expect(missingScripts('```sh\nnpm run -s test:gone   # no more\nnpm run test\n```')).toEqual(['test:gone']);
  expect(missingScripts('`npm run gone`')).toEqual(['gone']);

  const block = (line: string) => `A block:\n\n\`\`\`sh\n${line}\n\`\`\`\n`;
  expect(
    mistypedCommands(
      `${block('npm run -s offerline -- run refresh --json    # the same for --programs')}, then \`offerline sql\` of offerline lines`,
    ),
  ).toEqual([]);
  expect(mistypedCommands(block('offerline sql "SELECT 1 --gone" --format csv'))).toEqual([]);
  expect(mistypedCommands(block('npm run -s offerline -- run everything'))).toEqual(['`run everything` is no command']);
  expect(mistypedCommands('as `offerline postbacks forget 7` does')).toEqual(['`postbacks forget 7` is no command']);
  expect(mistypedCommands(block('offerline diff 00000001 current --gone'))).toEqual(['`diff` has no --gone']);
});

it('what is asked of READMEs is found in them', () => {
  expect(readmes.flatMap(({ text }) => typedScripts(text))).toContain('test:crash');
  expect(readmes.flatMap(({ text }) => typedCommands(text)).length).toBeGreaterThan(10);
  expect(() => section('A title that there is not')).toThrow('0 sections of READMEs');
});
