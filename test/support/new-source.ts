import { PassThrough } from 'node:stream';
import { exitCode, OfferlineError } from '../../src/kit/errors/errors.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { createProgram } from '../../src/cli/program.ts';
import { TerminalPrompts } from '../../src/cli/prompts.ts';

/** What a command came to, at a terminal or without one. */
export interface Answered {
  code: number;
  stdout: string;
  /** Questions and what is shown above them. */
  shown: string;
}

/**
 * Runs a command within this process, with somebody at its prompts where there are answers. Each waits for the question
 * that it is for; null ends the input.
 */
export async function answered(
  dataFolder: string,
  words: readonly string[],
  answers?: readonly (readonly [question: string, answer: string | null])[],
): Promise<Answered> {
  const before = process.env['OFFERLINE_DATA'];
  process.env['OFFERLINE_DATA'] = dataFolder;
  const outcome: Answered = { code: exitCode.done, stdout: '', shown: '' };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const left = [...(answers ?? [])];
  let unanswered = '';
  output.on('data', (chunk: Buffer) => {
    outcome.shown += chunk.toString();
    unanswered += chunk.toString();
    const [next] = left;
    // A question without an answer would wait for ever.
    if (next === undefined && unanswered.endsWith(': ')) input.end();
    if (next === undefined || !unanswered.endsWith(next[0])) return;
    left.shift();
    unanswered = '';
    if (next[1] === null) input.end();
    else input.write(`${next[1]}\n`);
  });
  const logger = createLogger({ write: () => true }, 'silent');
  const context = {
    terminal: { logger, progress: noProgress },
    print: (text: string) => (outcome.stdout += text),
    ...(answers && { openPrompts: () => new TerminalPrompts(input, output) }),
  };
  process.exitCode = undefined;
  const ended = () => Number(process.exitCode ?? exitCode.done);
  try {
    await (await createProgram(context, words)).parseAsync([...words], { from: 'user' });
    outcome.code = ended();
  } catch (error) {
    if (!(error instanceof OfferlineError)) throw error;
    outcome.code = error.exitCode;
    outcome.shown += error.message;
  } finally {
    process.exitCode = undefined;
    if (before === undefined) delete process.env['OFFERLINE_DATA'];
    else process.env['OFFERLINE_DATA'] = before;
  }
  return outcome;
}
