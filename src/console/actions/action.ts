import type { z } from 'zod';

/** A command of the CLI as words, apart by what they are. */
export interface CommandWords {
  /** Such as `postbacks retry`. */
  command: readonly string[];
  /** Each `--name` or `--name=value` in one word, so that no value is taken for an option. */
  options?: readonly string[];
  /** What the command takes by place. */
  names?: readonly string[];
}

/** What came of an action, as the command's answer tells. */
export interface ActionResult {
  run_id?: number | undefined;
  snapshot_id?: string | null | undefined;
  counts: Record<string, number>;
}

/** Something that operators do from the console: data, of which page, preview, process and audit log are made. */
export interface Action {
  readonly name: string;
  readonly title: string;
  /** Who may. */
  readonly role: 'operator';
  /** Of a form: texts, of which empty ones count as absent. */
  readonly parameters: z.ZodType;
  /** Arguments of the command that says what would change. */
  previewArguments(parameters: unknown): string[];
  arguments(parameters: unknown): string[];
  /** As people type it. */
  typed(parameters: unknown): string;
  /** Of a preview's answer what decides: while that is the same, so is what the action does. */
  changes(document: unknown): unknown;
  /** How much that is. */
  counts(document: unknown): Record<string, number>;
  result(document: unknown): ActionResult;
}

interface ActionParts<Parameters extends z.ZodType, Plan extends z.ZodType, Answer extends z.ZodType> {
  name: string;
  title: string;
  parameters: Parameters;
  words: (parameters: z.output<Parameters>) => CommandWords;
  /** What of the preview's answer decides; it leaves out what changes by itself, such as ages and earnings. */
  plan: Plan;
  counts: (plan: z.output<Plan>) => Record<string, number>;
  answer: Answer;
  result: (answer: z.output<Answer>) => ActionResult;
}

/** An action whose parts fit together; outside of it only the parts' own schemas know their types. */
export function defineAction<Parameters extends z.ZodType, Plan extends z.ZodType, Answer extends z.ZodType>(
  parts: ActionParts<Parameters, Plan, Answer>,
): Action {
  const { name, title, parameters, plan, answer } = parts;
  const wordsOf = (given: unknown) => parts.words(given as z.output<Parameters>);
  return {
    name,
    title,
    role: 'operator',
    parameters,
    previewArguments: (given) => commandLine(wordsOf(given), ['--dry-run', '--json']),
    arguments: (given) => commandLine(wordsOf(given), ['--json']),
    typed: (given) => ['offerline', ...commandLine(wordsOf(given), []).map(shellWord)].join(' '),
    changes: (document) => plan.parse(document),
    counts: (document) => parts.counts(plan.parse(document)),
    result: (document) => parts.result(answer.parse(document)),
  };
}

/** After `--` nothing is an option, whatever it looks like. */
function commandLine({ command, options = [], names = [] }: CommandWords, own: readonly string[]): string[] {
  return [...command, ...options, ...own, ...(names.length === 0 ? [] : ['--', ...names])];
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
