import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsIn, documentedProgram } from '../src/cli/reference/commands-page.ts';
import { consolePages } from '../src/console/pages.ts';
import { analyticsTables, analyticsViews } from '../src/pipeline/snapshot/content/published-tables.ts';
import { documentedPath } from '../src/serve/api/openapi/document.ts';
import { furtherValues } from '../src/kit/sites/postback-address.ts';
import { operations } from '../src/serve/api/operations.ts';
import { connectorNamed, connectorNames } from '../src/sources/connectors/connectors.ts';

const root = join(import.meta.dirname, '..');
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const commands = commandsIn(await documentedProgram());

/** Pieces of code within lines. */
function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** Scripts that a text has one type and package.json lacks. */
function missingScripts(text: string): string[] {
  const typed = [...text.matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(start|test)\b)/g)].map(
    ([, run, short]) => run ?? short,
  );
  return typed.filter((name) => name !== undefined && !Object.hasOwn(scripts, name)) as string[];
}

/** Mistakes in the commands that a text has one type, in a line of a block of code or within a sentence. */
function mistypedCommands(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n([^]*?)^```/gm)].map(([, block = '']) => block);
  const lines = [...codeIn(text.replaceAll(/^```[^]*?^```/gm, '')), ...blocks.flatMap((block) => block.split('\n'))];
  const typed = lines.flatMap((line) => /^(?:npm run (?:-s )?)?offerline (?:-- )?([a-z].*)/.exec(line)?.[1] ?? []);
  return typed.flatMap(mistakesOf);
}

/** Mistakes in a command as it is typed, such as `sites add <site_key> [--pending]`: its words, or an option. */
function mistakesOf(typed: string): string[] {
  const code = typed.replaceAll(/"[^"]*"/g, '""').replace(/ #.*/, '');
  // As far as they are words: what follows may be an argument.
  const words = /^[a-z]+(?: [a-z]+)*/.exec(code)?.[0] ?? '';
  const known = commands
    .filter((each) => words === each.words || words.startsWith(`${each.words} `))
    .toSorted((a, b) => b.words.length - a.words.length)[0];
  if (known === undefined) return [`\`${typed}\` is no command`];
  const options = ['--help', ...known.command.options.map(({ long }) => long)];
  return [...code.matchAll(/--[a-z][a-z-]*/g)]
    .map(([option]) => option)
    .filter((option) => !options.includes(option))
    .map((option) => `\`${known.words}\` has no ${option}`);
}

/** Links to files and titles of the repository that are not there. */
function brokenLinks(path: string, text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, address = '']) => address)
    .filter((address) => !/^[a-z]+:/.test(address))
    .filter((address) => {
      const [file = '', title] = address.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(root, target))) return true;
      return title !== undefined && !anchorsOf(readFileSync(join(root, target), 'utf8')).includes(title);
    });
}

/**
 * Files of the code that a text names by a path, below the page's folder, `src`, `test` or the root, and that are not
 * there.
 */
function missingFiles(path: string, text: string): string[] {
  const named = codeIn(text).filter((code) => /^[\w.-]+(\/[\w.-]+)+\.(ts|mjs|sql)$/.test(code));
  const folders = [dirname(path), '.', 'src', 'test'];
  // NAME stands for a name that a recipe's reader chooses.
  return named
    .filter((file) => !file.includes('NAME'))
    .filter((file) => !folders.some((folder) => existsSync(join(root, folder, file))));
}

/** Anchors of titles, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(pages)('$path', ({ path, text }) => {
  it('has one type only scripts that package.json has', () => {
    expect(missingScripts(text)).toEqual([]);
  });

  it('has one type only commands that there are, with options that they have', () => {
    expect(mistypedCommands(text)).toEqual([]);
  });

  it('names only files that there are', () => {
    expect(missingFiles(path, text)).toEqual([]);
  });

  it('links only to pages and titles that there are', () => {
    expect(brokenLinks(path, text)).toEqual([]);
  });
});

it('the analysts’ page has all tables of the file with their grain, and no others', () => {
  const page = readFileSync(join(root, 'sql/README.md'), 'utf8');
  const section = page.split(/^##? /m).find((part) => part.startsWith("The analysts' file\n")) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const names = rows.flatMap((row) => codeIn(row.split(' | ')[0] ?? '').map((name) => [name, row] as const));
  expect(names.map(([name]) => name).toSorted()).toEqual([...analyticsTables, ...analyticsViews].toSorted());
  expect(names.filter(([name, row]) => !row.startsWith(`| \`${name}\` | one row per `))).toEqual([]);
});

/** The code in the first cells of a section's tables. */
function firstCells(path: string, title: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const section = text.split(/^##? /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) => codeIn(row.split(' | ')[0] ?? ''));
}

it('the publishers’ page has all paths that they may ask', () => {
  const paths = firstCells('src/serve/publishers.md', 'Asking').filter((path) => !path.startsWith('/asset/'));
  expect(paths.toSorted()).toEqual(operations.map(documentedPath).toSorted());
});

it('the publishers’ page has the further values that they may ask for, in their order and words', () => {
  const page = readFileSync(join(root, 'src/serve/publishers.md'), 'utf8');
  const table = page.split('| further value | says |')[1]?.split('\n\n')[0] ?? '';
  const rows = Array.from(table.matchAll(/^\| `(\w+)` *\| (.*?) *\|$/gm), ([, name, says]) => [name, says]);
  expect(rows).toEqual(Object.entries(furtherValues));
});

it('the console’s page has all addresses of its pages', () => {
  const addresses = firstCells('src/console/README.md', 'Pages').map((address) => address.replace(/\?.*/, ''));
  // This page only redirects to another one of these.
  const paths = consolePages.map(({ path }) => path).filter((path) => path !== '/snapshots/diff');
  expect(addresses.toSorted()).toEqual(paths.toSorted());
});

it('the networks’ page has all connectors', () => {
  const rows = firstCells('src/sources/README.md', 'sources.json');
  const networks = connectorNames
    .flatMap((name) => connectorNamed(name) ?? [])
    .filter(({ offers }) => offers !== undefined);
  expect(rows).toEqual(expect.arrayContaining(networks.map(({ name }) => name)));
});

it('a script, command, option, file or link that is gone is found', () => {
  expect(missingFiles('src/README.md', '`cli/main.ts`, `cli/gone.ts`, `tracker/click-keys.json`')).toEqual([
    'cli/gone.ts',
  ]);
  expect(missingScripts('`npm start`, or `npm run -s test:gone`, or npm on a day without `npm ci`')).toEqual([
    'test:gone',
  ]);
  expect(mistypedCommands('`offerline run refresh --json`, `offerline postbacks forget 7`, offerline lines')).toEqual([
    '`postbacks forget 7` is no command',
  ]);
  expect(mistypedCommands('```sh\nnpm run -s offerline -- diff 00000001 current --gone # --x\n```\n')).toEqual([
    '`diff` has no --gone',
  ]);
  expect(
    brokenLinks('README.md', '[a](src/README.md#words), [b](gone.md), [c](#no-such-title), [d](https://x.example)'),
  ).toEqual(['gone.md', '#no-such-title']);
});
