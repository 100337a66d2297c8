import type { Terminal } from '../kit/logging/progress.ts';
import type { Prompts } from './prompts.ts';

/** Output of a command, and its terminal. */
export interface CommandContext {
  /** Logs and progress, on standard error. */
  terminal: Terminal;
  /** The command's answer, on standard output. */
  print: (text: string) => void;
  /** Opens questions to the person at the terminal, where there is one. */
  openPrompts?: () => Prompts;
}
