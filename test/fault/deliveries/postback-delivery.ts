/** One pass by a clock that is ahead, for whoever wants to kill it. Says when it begins, and how it ended. */
import { deliverPostbacks } from '../../../pipelines/postbacks.ts';
// oxlint-disable-next-line import/no-unassigned-import -- the composition root hands in what settings may ask for
import '../../../src/cli/compose.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';

const [root = '', ahead = '0'] = process.argv.slice(2);
const terminal = { logger: createLogger(process.stderr, 'error'), progress: noProgress };
process.stdout.write('begins\n');
const summary = await deliverPostbacks(
  { data: new DataDirectory(root), terminal, command: 'postbacks deliver', waitSeconds: 0 },
  { ...realEffects, now: () => realEffects.now() + Number(ahead) },
);
process.stdout.write(`${JSON.stringify(summary)}\n`);
