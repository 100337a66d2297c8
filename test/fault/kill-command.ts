import { Command, CommanderError } from 'commander';
import { wholeNumber } from '../../src/cli/answer.ts';
import { exitCode } from '../../src/kit/errors/errors.ts';

/** A script that kills something many times and says what came of it. */
export interface KillCommand<Report extends { wrong: string[] }> {
  /** Of package.json. */
  script: string;
  description: string;
  /** What `--rounds` counts, and what `--seed` decides. */
  rounds: string;
  seed: string;
  kill(seed: number, rounds: number, onRound: (round: number) => void): Promise<Report>;
  /** The report in a line. */
  told(report: Report, rounds: number): string;
}

/** Runs it by the words of the command line: prints the report, and exits 1 where there was a mistake. */
export async function runKillCommand<Report extends { wrong: string[] }>(command: KillCommand<Report>): Promise<void> {
  const write = (text: string) => void process.stdout.write(`${text}\n`);
  try {
    const { rounds, seed, json } = new Command(`npm run ${command.script} --`)
      .description(command.description)
      .option('--rounds <n>', command.rounds, wholeNumber(1, 1_000_000), 100)
      .option('--seed <n>', command.seed, wholeNumber(0, 2 ** 32 - 1), 1)
      .option('--json', 'print one JSON document on standard output')
      .exitOverride()
      .parse()
      .opts<{ rounds: number; seed: number; json?: boolean }>();
    const report = await command.kill(seed, rounds, (round) => {
      if (!json && round % 10 === 0) write(`${round} rounds`);
    });
    if (json) write(JSON.stringify({ seed, ...report }, null, 2));
    else write([command.told(report, rounds), ...report.wrong].join('\n'));
    process.exitCode = report.wrong.length === 0 ? exitCode.done : exitCode.failed;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
  }
}
