import { Command, CommanderError } from 'commander';
import { wholeNumber } from '../../../src/cli/answer.ts';
import { exitCode } from '../../../src/errors/errors.ts';
import { killDeliveries } from './killed-deliveries.ts';

const write = (text: string) => void process.stdout.write(`${text}\n`);

try {
  const { rounds, seed, json } = new Command('npm run test:postback-kill --')
    .description(
      'Kills deliveries of postbacks at random moments, and compares what a receiver got with what there was to tell: all of it, under one id each, in order.',
    )
    .option('--rounds <n>', 'deliveries that are killed', wholeNumber(1, 1_000_000), 100)
    .option('--seed <n>', 'seed of the events, the moments and the receiver', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--json', 'print one JSON document on standard output')
    .exitOverride()
    .parse()
    .opts<{ rounds: number; seed: number; json?: boolean }>();
  const report = await killDeliveries(seed, rounds, (round) => {
    if (!json && round % 10 === 0) write(`${round} rounds`);
  });
  const { killed, events, underFire, receipts, wrong } = report;
  if (json) write(JSON.stringify({ seed, ...report }, null, 2));
  else
    write(
      [
        `${killed} of ${rounds} deliveries were killed before their end; ${events} events, ${receipts} requests arrived, ${underFire} of them meanwhile; ${wrong.length} mistakes`,
        ...wrong,
      ].join('\n'),
    );
  process.exitCode = wrong.length === 0 ? exitCode.done : exitCode.failed;
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
}
