import { CommanderError } from 'commander';
import { exitCode, OfferlineError } from '../kit/errors/errors.ts';
import { machineFailure } from '../kit/errors/machine-failure.ts';
import { createTerminal } from '../kit/logging/progress.ts';
// oxlint-disable-next-line import/no-unassigned-import -- the composition root hands in what settings may ask for
import './compose.ts';
import type { CommandContext } from './context.ts';
import { createProgram } from './program.ts';
import { TerminalPrompts } from './prompts.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader may have seen enough, as `head` does.
  if (error.code === 'EPIPE') process.exit(exitCode.done);
  process.exitCode = report(machineFailure(error) ?? error);
});
// A log whose reader has ended, or whose disk is full, loses lines; runs and services are to go on without them.
process.stderr.on('error', () => undefined);

const terminal = createTerminal();
try {
  // A query may begin with a comment, which is no option.
  const words = process.argv.slice(2).map((word) => (/^--\s/.test(word) ? ` ${word}` : word));
  const program = await createProgram(
    { terminal, print: (text) => void process.stdout.write(text), ...terminalPrompts() },
    words,
  );
  await program.parseAsync(words, { from: 'user' });
} catch (error) {
  process.exitCode = report(machineFailure(error) ?? error);
}

/** Questions go to standard error, so that the answer alone is on standard output. */
function terminalPrompts(): Pick<CommandContext, 'openPrompts'> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return {};
  const interrupt = () => void process.kill(process.pid, 'SIGINT');
  return { openPrompts: () => new TerminalPrompts(process.stdin, process.stderr, interrupt) };
}

/**
 * The error's one line for people, its stack only where it is none of ours; and the exit code that its kind has.
 */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
  if (error instanceof OfferlineError) {
    terminal.logger.error(error.message);
    return error.exitCode;
  }
  terminal.logger.error({ err: error }, (error as Error).message);
  return exitCode.failed;
}
