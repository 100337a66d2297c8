import type { Argument, Command, Option } from 'commander';
import { noProgress } from '../../kit/logging/progress.ts';
import { createLogger } from '../../kit/logging/log.ts';
import { createProgram } from '../program.ts';
import { markdownTable } from './markdown-table.ts';

const introduction = `# Commands

Generated from the commands of \`src/cli/commands\` by \`npm run -s generate\`: do not edit, change the command and generate it
again.

From a checkout \`npm run -s offerline -- <command>\`; in a folder with the installed package \`npx offerline <command>\`; in the image
\`offerline <command>\`. Each takes \`--help\`, and \`--json\` for one JSON document on standard output; \`offerline --version\` prints the
version. Logs and progress go to standard error. Control characters in what others wrote are shown as
\`␛\` or \`\\u009b\`; JSON, in which they are escapes, and CSV keep them.

| exit code | says |
| --- | --- |
| 0 | done |
| 1 | failed |
| 2 | wrong usage or configuration |
| 3 | the warehouse or the service stayed busy |
| 4 | an audit failed, and nothing was published |
`;

/** The text of `src/cli/commands.md`. */
export async function commandsPage(): Promise<string> {
  const program = await documentedProgram();
  return [introduction, overview(program), ...commandsIn(program).map(section)].join('\n');
}

/** The commands by when they are needed. */
function overview({ commands }: Command): string {
  const headings = [...new Set(commands.map((command) => command.helpGroup()))].filter((heading) => heading !== '');
  const rows = headings.map((heading) => {
    const names = commands.filter((command) => command.helpGroup() === heading).map((command) => command.name());
    return {
      when: heading.replace(/:$/, ''),
      commands: names.map((name) => `\`${name}\``).join(', '),
    };
  });
  return markdownTable(rows);
}

/** A command that does something, as it is typed: `sites add`. */
interface TypedCommand {
  words: string;
  command: Command;
}

/** All commands of a program; those within others behind these. */
export function commandsIn(command: Command, words: string[] = []): TypedCommand[] {
  const children = command.commands.filter((child) => child.name() !== 'help');
  const within = children.flatMap((child) => commandsIn(child, [...words, child.name()]));
  // Commander does not say whether a command with others in it does something by itself.
  const isOne = children.length === 0 || Reflect.get(command, '_actionHandler') !== null;
  return isOne ? [{ words: words.join(' '), command }, ...within] : within;
}

/** The program with all commands, of which none is run. */
export function documentedProgram(): Promise<Command> {
  const logger = createLogger({ write: () => true }, 'silent');
  return createProgram({ terminal: { logger, progress: noProgress }, print: () => undefined });
}

function section({ words, command }: TypedCommand): string {
  const options = command.options.filter(({ long }) => long !== '--json');
  const rows = [...command.registeredArguments.map(argumentRow), ...options.map(optionRow)];
  const required = options.filter(isRequired).map(({ flags }) => flags);
  const usage = [words, ...command.registeredArguments.map(placeholder), ...required].join(' ');
  return [
    `## \`${words}\`\n`,
    ...(usage === words ? [] : [`\`${usage}\`\n`]),
    `${withLinks(command.description())}\n`,
    ...(rows.length === 0 ? [] : [markdownTable(rows)]),
  ].join('\n');
}

function argumentRow(argument: Argument): Record<string, string> {
  const { meaning, stated } = parts(argument.description);
  return { option: `\`${placeholder(argument)}\``, default: stated ?? '', meaning };
}

function optionRow(option: Option): Record<string, string> {
  const { meaning, stated } = parts(option.description);
  const given = option.defaultValue === undefined ? '' : `\`${String(option.defaultValue)}\``;
  const choices =
    option.argChoices === undefined ? '' : `: ${option.argChoices.map((choice) => `\`${choice}\``).join(', ')}`;
  return {
    option: `\`${option.flags}\``,
    default: isRequired(option) ? '**required**' : (stated ?? given),
    meaning: meaning + choices,
  };
}

/** Splits a help text into its meaning and the default that it states at its end. */
function parts(help: string): { meaning: string; stated: string | undefined } {
  const [, meaning = help, stated] = /^(.*) \(default: (.*)\)$/.exec(help) ?? [];
  return { meaning: withLinks(meaning), stated };
}

function isRequired({ mandatory }: Option): boolean {
  return mandatory;
}

function placeholder(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '…' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Pages of the repository, which help names by their paths, as links. */
function withLinks(help: string): string {
  return help.replaceAll(/\bsrc\/([\w/-]+\.md(?:#[\w-]+)?)/g, '[src/$1](../$1)');
}
