import type { Command } from 'commander';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';

const context = {
  terminal: { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress },
  print: () => {},
};

it('every command is there when it is named, with few others loaded beside it', async () => {
  const all = (await createProgram(context)).commands.map((command) => command.name());
  expect(all).toContain('status');
  for (const name of all) {
    const loaded = (await createProgram(context, [name, '--json'])).commands.map((command) => command.name());
    expect(loaded).toContain(name);
    expect(loaded.length, `${name} is loaded alone`).toBeLessThanOrEqual(2);
  }
  const unknown = await createProgram(context, ['stauts']);
  expect(unknown.commands.map((command) => command.name())).toEqual(all);
});

const allOf = (command: Command): Command[] => [command, ...command.commands.flatMap(allOf)];

it('every command that is no group of others takes --json', async () => {
  const commands = allOf(await createProgram(context)).filter((command) => command.commands.length === 0);
  const without = commands.filter((command) => !command.options.some(({ long }) => long === '--json'));
  expect(without.map((command) => command.name())).toEqual([]);
});

it('what can only be refused is refused before any command is loaded', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  for (const [words, message] of [
    [['stauts', '--json'], "unknown command 'stauts'\n(Did you mean status?)"],
    [['--nosuchoption'], "unknown option '--nosuchoption'"],
  ] as const) {
    const program = await createProgram(context, words);
    expect(program.commands.flatMap(({ options }) => options)).toEqual([]);
    await expect(program.parseAsync([...words], { from: 'user' })).rejects.toThrow(message);
  }
  for (const words of [[], ['--help'], ['-h'], ['help', 'status'], ['--', 'status']])
    expect((await createProgram(context, words)).commands.map((command) => command.description())).not.toContain('');
});

it('every command tells what it takes', async () => {
  for (const command of allOf(await createProgram(context)))
    expect(command.helpInformation()).toContain(`Usage: ${command.parent === null ? command.name() : ''}`);
});
