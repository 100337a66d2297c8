import { CommanderError } from 'commander';
import { exitCode, OfferlineError } from '../errors/errors.ts';
import { createConsole } from '../stage/progress.ts';
import { createProgram } from './program.ts';

const console = createConsole();
try {
  await createProgram({ console, print: (text) => void process.stdout.write(text) }).parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

/** The error's one line for people, its stack only where it is none of ours; and the exit code the contract promises. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
  if (error instanceof OfferlineError) {
    console.logger.error(error.message);
    return error.exitCode;
  }
  console.logger.error({ err: error }, (error as Error).message);
  return exitCode.failed;
}
