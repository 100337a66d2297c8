/** A worker without a warehouse: it makes one pass of delivery after the other, as a schedule of a worker does. */
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { deliverPostbacks } from '../../../pipelines/postbacks.ts';
// oxlint-disable-next-line import/no-unassigned-import -- the composition root hands in what settings may ask for
import '../../../src/cli/compose.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { StoreAwayError } from '../../../src/postbacks/store/delivery-store.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';
import type { Orders } from '../storage/leader-child.ts';

const [root = '', ordersFile = ''] = process.argv.slice(2);
const data = new DataDirectory(root);
const terminal = { logger: createLogger(process.stderr, 'error'), progress: noProgress };

process.stdout.write('works\n');
for (;;) {
  const { ahead, senders } = JSON.parse(await readFile(ordersFile, 'utf8')) as Orders;
  try {
    if (senders !== 'leaders')
      await deliverPostbacks(
        { data, terminal, command: 'postbacks deliver' },
        { ...realEffects, now: () => wallClock + ahead },
      );
  } catch (error) {
    if (!(error instanceof StoreAwayError)) throw error;
    process.stdout.write(`away: ${error.message}\n`);
  }
  await setTimeout(100);
}
