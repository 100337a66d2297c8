import { UsageError } from '../../src/errors/errors.ts';
import { createProgram } from '../../src/cli/program.ts';
import { createLogger } from '../../src/logging/log.ts';
import { noProgress } from '../../src/logging/progress.ts';

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
    const program = await createProgram({ console: silent, print: (text) => (printed += text) }, words);
    await program.parseAsync(words, { from: 'user' });
    return printed;
  } finally {
    if (before === undefined) delete process.env['OFFERLINE_DATA'];
    else process.env['OFFERLINE_DATA'] = before;
  }
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
