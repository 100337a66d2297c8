import { Command, CommanderError } from 'commander';
import { wholeNumber } from '../../../src/cli/answer.ts';
import { exitCode } from '../../../src/errors/errors.ts';
import { killTracker } from './killed-tracker.ts';

const write = (text: string) => void process.stdout.write(`${text}\n`);

try {
  const { rounds, seed, json } = new Command('npm run test:track --')
    .description(
      'Kills a tracker under load at its named steps and at random moments, and compares what it answered with the rows of its logs and what a refresh makes of them: each once, and nothing else.',
    )
    .option('--rounds <n>', 'trackers that are killed', wholeNumber(1, 1_000_000), 100)
    .option('--seed <n>', 'seed of the moments and of what is sent', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--json', 'print one JSON document on standard output')
    .exitOverride()
    .parse()
    .opts<{ rounds: number; seed: number; json?: boolean }>();
  const report = await killTracker(seed, rounds, (round) => {
    if (!json && round % 10 === 0) write(`${round} rounds`);
  });
  const { killed, answered, lost, refused, files, hits, wrong } = report;
  if (json) write(JSON.stringify({ seed, ...report }, null, 2));
  else
    write(
      [
        `${killed} of ${rounds} trackers were killed, at ${Object.keys(hits).length} kinds of moments; ${answered} clicks and conversions were answered for, ${lost} were under way, ${refused} refused; ${files} files; ${wrong.length} mistakes`,
        ...wrong,
      ].join('\n'),
    );
  process.exitCode = wrong.length === 0 ? exitCode.done : exitCode.failed;
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
}
