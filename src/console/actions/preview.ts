import { exitCode } from '../../kit/errors/errors.ts';
import type { Action } from './action.ts';
import { askCommand, type CommandAnswer, type Launcher } from './command-process.ts';
import { digestOf } from './digest.ts';
import { exitWords } from './exit-words.ts';
import { PreviewFailed } from './problems.ts';

/** What an action would do now. */
export interface Preview {
  action: string;
  title: string;
  parameters: unknown;
  /** The same by hand. */
  command: string;
  /** What the command says of it. */
  document: unknown;
  counts: Record<string, number>;
  /** Of what would change: the action is begun only while it is the same. */
  digest: string;
}

/** Runs the command's `--dry-run`. Throws `PreviewFailed` where it does not say what it would do. */
export async function previewOf(
  action: Action,
  parameters: unknown,
  launcher: Launcher,
  limits: { stop: AbortSignal; milliseconds: number },
): Promise<Preview> {
  const ended = await askCommand(launcher, action.previewArguments(parameters), limits);
  const document = documentOf(action, ended, limits.milliseconds);
  return {
    action: action.name,
    title: action.title,
    parameters,
    command: action.typed(parameters),
    document,
    counts: action.counts(document),
    digest: digestOf(action.name, parameters, action.changes(document)),
  };
}

function documentOf({ title }: Action, ended: CommandAnswer, milliseconds: number): unknown {
  const { code, signal, error, isTooLong } = ended;
  const said = error === null ? '' : ` It said: ${error}`;
  if (isTooLong)
    throw new PreviewFailed(
      503,
      `${title}: what it would do was not known after ${milliseconds / 1000} s. Try again when no run holds the warehouse.${said}`,
    );
  if (code === null) throw new PreviewFailed(503, `${title}: the preview was ended by ${signal ?? 'force'}.${said}`);
  if (code !== exitCode.done) {
    const status = code === exitCode.usage ? 422 : code === exitCode.busy ? 503 : 500;
    throw new PreviewFailed(status, `${title}: ${exitWords(code)}.${said}`);
  }
  return JSON.parse(ended.answer);
}
