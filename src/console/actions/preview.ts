import { hash } from 'node:crypto';
import { exitCode } from '../../kit/errors/errors.ts';
import type { Html } from '../../kit/html/html.ts';
import { PreviewFailedError } from './action-errors.ts';
import type { Action } from './action.ts';
import { askCommand, type CommandAnswer, type Launcher } from './command-process.ts';
import { exitCodeText } from './exit-code-text.ts';
import { compareTexts } from '../../kit/text/compare-texts.ts';

/** The changes that an action would make now. */
export interface Preview {
  action: string;
  title: string;
  parameters: unknown;
  /** The command as people type it. */
  command: string;
  /** The answer of the dry run, as markup. */
  plan: readonly Html[];
  counts: Record<string, number>;
  /** The digest of the changes: the action starts only while it is the same. */
  digest: string;
}

/** Runs the command with `--dry-run`. Throws `PreviewFailedError` where that fails. */
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
    plan: action.show(document),
    counts: action.counts(document),
    digest: planDigest(action.name, parameters, action.changes(document)),
  };
}

/** SHA-256 of an action, its parameters and its changes; the order of keys does not matter. */
export function planDigest(action: string, parameters: unknown, changes: unknown): string {
  const canonical = JSON.stringify([action, parameters, changes], (_key, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => compareTexts(one, other)))
      : value,
  );
  return hash('sha256', canonical);
}

function documentOf({ title }: Action, ended: CommandAnswer, milliseconds: number): unknown {
  const { code, signal, error, isTooLong } = ended;
  const reason = error === null ? '' : ` Its error: ${error}`;
  if (isTooLong)
    throw new PreviewFailedError(
      503,
      `${title}: the preview took longer than ${milliseconds / 1000} s. Try again when no run holds the warehouse.${reason}`,
    );
  if (code === null)
    throw new PreviewFailedError(503, `${title}: the preview was ended by ${signal ?? 'force'}.${reason}`);
  if (code !== exitCode.done) {
    const status = code === exitCode.usage ? 422 : code === exitCode.busy ? 503 : 500;
    throw new PreviewFailedError(status, `${title}: ${exitCodeText(code)}.${reason}`);
  }
  return JSON.parse(ended.answer);
}
