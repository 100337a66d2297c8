import { CommanderError } from 'commander';
import { vi } from 'vitest';
import { exitCode, OfferlineError, UsageError } from '../../src/kit/errors/errors.ts';
import { createProgram } from '../../src/cli/program.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import type { Ended } from './command-line.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

/**
 * Runs a command within this process, which saves the half second of a new one. Gives what it prints; throws what it
 * throws.
 */
export async function command(dataFolder: string, ...words: string[]): Promise<string> {
  const before = process.env['OFFERLINE_DATA'];
  process.env['OFFERLINE_DATA'] = dataFolder;
  let printed = '';
  try {
    const program = await createProgram({ terminal: silent, print: (text) => (printed += text) }, words);
    await program.parseAsync(words, { from: 'user' });
    return printed;
  } finally {
    restoreData(before);
  }
}

/**
 * The same to its end, with the exit code, the answer and the log that a process would give. What is written past the
 * command's own ways to standard output shows as well.
 */
export async function endOf(dataFolder: string, ...words: string[]): Promise<Ended> {
  const before = process.env['OFFERLINE_DATA'];
  process.env['OFFERLINE_DATA'] = dataFolder;
  const outcome: Ended = { code: exitCode.done, stdout: '', stderr: '' };
  const logger = createLogger({ write: (line) => (outcome.stderr += line) });
  const unasked = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => (outcome.stdout += String(text)) !== ''),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => (outcome.stderr += String(text)) !== ''),
  ];
  try {
    const context = { terminal: { logger, progress: noProgress }, print: (text: string) => (outcome.stdout += text) };
    await (await createProgram(context, words)).parseAsync(words, { from: 'user' });
  } catch (error) {
    outcome.code = exitCodeOf(error);
    outcome.stderr += (error as Error).message;
  } finally {
    for (const spy of unasked) spy.mockRestore();
    restoreData(before);
  }
  return outcome;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage;
  return error instanceof OfferlineError ? error.exitCode : exitCode.failed;
}

function restoreData(before: string | undefined): void {
  if (before === undefined) delete process.env['OFFERLINE_DATA'];
  else process.env['OFFERLINE_DATA'] = before;
}

/** The message of the usage error that a command ends with. */
export async function usageErrorOf(dataFolder: string, ...words: string[]): Promise<string> {
  const outcome = await command(dataFolder, ...words).then(
    (printed) => new Error(`it printed ${printed}`),
    (error: unknown) => error,
  );
  if (outcome instanceof UsageError) return outcome.message;
  throw outcome;
}
