import { readFileSync } from 'node:fs';
import type { z } from 'zod';

export interface UnreadableNote {
  file: string;
  problem: string;
}

/**
 * Reads JSON that a process wrote for others: useful, but no work stops without it. Undefined where there is none, and
 * where it cannot be read, such as a file of another user; `onUnreadable` receives that problem.
 */
export function readNote<Note>(
  file: string,
  schema: z.ZodType<Note>,
  onUnreadable: (unreadable: UnreadableNote) => void = () => undefined,
): Note | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') onUnreadable({ file, problem: `cannot be read (${code ?? message}), ${asAbsent}` });
    return undefined;
  }
  const { data: note } = schema.safeParse(jsonOf(text));
  if (note === undefined) onUnreadable({ file, problem: `is not as it was written, ${asAbsent}` });
  return note;
}

const asAbsent = 'and counts as absent';
export const unreadableNoteAdvice = 'remove it, or let the user read it that offerline runs as';

export function describeUnreadableNote({ file, problem }: UnreadableNote): string {
  return `${file} ${problem}; ${unreadableNoteAdvice}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
