import { Command, CommanderError } from 'commander';
import { wholeNumber } from '../../src/cli/answer.ts';
import { exitCode } from '../../src/kit/errors/errors.ts';
import keepFilesInMemory from '../support/files-in-memory.ts';
import { nameOf, runFaults } from './lives/fault-plan.ts';

interface CrashOptions {
  rounds: number;
  seed: number;
  fail?: boolean;
  json?: boolean;
}

const write = (text: string) => void process.stdout.write(`${text}\n`);
const removeFiles = keepFilesInMemory();

try {
  const { rounds, seed, fail, json } = new Command('npm run test:crash --')
    .description(
      'Kills refreshes at their named steps and at random moments, or lets calls fail there, and compares what is published after the next run with a run that met no fault.',
    )
    .option('--rounds <n>', 'refreshes that meet a fault', wholeNumber(1, 1_000_000), 20)
    .option(
      '--seed <n>',
      'seed of the input and of the faults; the same seed plays the same again',
      wholeNumber(0, 2 ** 32 - 1),
      1,
    )
    .option('--fail', 'calls that fail with ENOSPC, EIO or EMFILE in place of kills')
    .option('--json', 'print one JSON document on standard output')
    .exitOverride()
    .parse()
    .opts<CrashOptions>();
  const report = await runFaults({
    kind: fail ? 'fail' : 'kill',
    rounds,
    seed,
    onRound: (round, faults, wrong) => {
      if (json) return;
      const told = faults
        .map(
          ({ kind, point }) =>
            `${kind} ${point === null ? 'at a random moment' : `${nameOf(point)} (${point.occurrence})`}`,
        )
        .join(', then ');
      if (wrong.length > 0) write(`round ${round} of seed ${seed}: ${told}\n  ${wrong.join('\n  ')}`);
      else if (round % 10 === 0) write(`${round} rounds, the last: ${told}`);
    },
  });
  const { hits, missed, passed, failed } = report;
  if (json) write(JSON.stringify({ seed, rounds, passed, failed, hits: Object.fromEntries(hits), missed }, null, 2));
  else
    write(
      `${hits.size} moments of steps were hit, each at least ${Math.min(...hits.values())} times; ${missed.length} had no turn\n${passed} passed, ${failed} failed`,
    );
  process.exitCode = failed === 0 ? exitCode.done : exitCode.failed;
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
} finally {
  removeFiles?.();
}
