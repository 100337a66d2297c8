import type { Terminal } from '../kit/logging/progress.ts';

/** What a command works with beside its options. */
export interface CommandContext {
  /** Logs and progress, on standard error. */
  terminal: Terminal;
  /** The command's answer, on standard output. */
  print: (text: string) => void;
}
