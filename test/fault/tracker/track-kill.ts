import { runKillCommand } from '../kill-command.ts';
import { killTracker } from './killed-tracker.ts';

await runKillCommand({
  script: 'test:track',
  description:
    'Kills a tracker under load at its named steps and at random moments, and compares what it answered with the rows of its logs and what a refresh makes of them: each once, and nothing else.',
  rounds: 'trackers that are killed',
  seed: 'seed of the moments and of what is sent',
  kill: killTracker,
  told: ({ killed, answered, lost, refused, files, hits, wrong }, rounds) =>
    `${killed} of ${rounds} trackers were killed, at ${Object.keys(hits).length} kinds of moments; ${answered} clicks and conversions were answered for, ${lost} were under way, ${refused} refused; ${files} files; ${wrong.length} mistakes`,
});
