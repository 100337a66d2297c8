import type { z } from 'zod';
import type { Html } from '../../kit/html/html.ts';

/** A command of the CLI, in words. */
export interface CommandWords {
  /** The name of the command, such as `['postbacks', 'retry']`. */
  command: readonly string[];
  /** Each `--name` or `--name=value` in one word, so that no value is read as an option. */
  options?: readonly string[];
  /** The arguments without a name. */
  names?: readonly string[];
}

/** The result of an action, from the answer of its command. */
export interface ActionResult {
  run_id?: number | undefined;
  snapshot_id?: string | null | undefined;
  counts: Record<string, number>;
}

/** An action of operators, as data: its page, preview, process and audit entries follow from it. */
export interface Action {
  readonly name: string;
  readonly title: string;
  /** Parses the texts of a form, without empty ones. */
  readonly parameters: z.ZodType;
  /** The arguments of the command's dry run. */
  previewArguments(parameters: unknown): string[];
  arguments(parameters: unknown): string[];
  /** The command as people type it. */
  typed(parameters: unknown): string;
  /** The part of the dry run's answer that is compared: while it is the same, the action does the same. */
  changes(document: unknown): unknown;
  /** Counts of these changes. */
  counts(document: unknown): Record<string, number>;
  /** The dry run's answer as markup. */
  show(document: unknown): readonly Html[];
  result(document: unknown): ActionResult;
}

interface ActionParts<Parameters extends z.ZodType, Plan extends z.ZodType, Answer extends z.ZodType> {
  name: string;
  title: string;
  parameters: Parameters;
  words: (parameters: z.output<Parameters>) => CommandWords;
  /** The answer of the dry run. */
  plan: Plan;
  /** The part of the plan that is compared, without values that change by themselves, such as earnings. */
  changes: (plan: z.output<Plan>) => unknown;
  counts: (plan: z.output<Plan>) => Record<string, number>;
  show: (plan: z.output<Plan>) => readonly Html[];
  /** The answer of the command. */
  answer: Answer;
  result: (answer: z.output<Answer>) => ActionResult;
}

/** Builds an action from parts whose types fit together; the schemas check what comes from outside. */
export function defineAction<Parameters extends z.ZodType, Plan extends z.ZodType, Answer extends z.ZodType>(
  parts: ActionParts<Parameters, Plan, Answer>,
): Action {
  const { name, title, parameters, plan, answer } = parts;
  const wordsOf = (given: unknown) => parts.words(given as z.output<Parameters>);
  return {
    name,
    title,
    parameters,
    previewArguments: (given) => commandLine(wordsOf(given), ['--dry-run', '--json']),
    arguments: (given) => commandLine(wordsOf(given), ['--json']),
    typed: (given) => ['offerline', ...commandLine(wordsOf(given), []).map(shellWord)].join(' '),
    changes: (document) => parts.changes(plan.parse(document)),
    counts: (document) => parts.counts(plan.parse(document)),
    show: (document) => parts.show(plan.parse(document)),
    result: (document) => parts.result(answer.parse(document)),
  };
}

/** After `--` no word is an option, whatever it looks like. */
function commandLine({ command, options = [], names = [] }: CommandWords, own: readonly string[]): string[] {
  return [...command, ...options, ...own, ...(names.length === 0 ? [] : ['--', ...names])];
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
