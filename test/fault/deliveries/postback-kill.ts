import { runKillCommand } from '../kill-command.ts';
import { killDeliveries } from './killed-deliveries.ts';

await runKillCommand({
  script: 'test:postback-kill',
  description:
    'Kills deliveries of postbacks at random moments, and compares what a receiver got with what there was to tell: all of it, under one id each, in order.',
  rounds: 'deliveries that are killed',
  seed: 'seed of the events, the moments and the receiver',
  kill: killDeliveries,
  told: ({ killed, events, underFire, receipts, wrong }, rounds) =>
    `${killed} of ${rounds} deliveries were killed before their end; ${events} events, ${receipts} requests arrived, ${underFire} of them meanwhile; ${wrong.length} mistakes`,
});
