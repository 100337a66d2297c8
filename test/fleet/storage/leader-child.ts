/**
 * A machine that would like to write, as `offerline schedule` does, with short times: it stands by, and once it leads
 * makes each round's refresh and passes of delivery, told its epoch by the environment as processes of a schedule are.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { deliverPostbacks } from '../../../pipelines/postbacks.ts';
import { refresh } from '../../../pipelines/refresh.ts';
// oxlint-disable-next-line import/no-unassigned-import -- the composition root hands in what settings may ask for
import '../../../src/cli/compose.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { StoreAwayError } from '../../../src/postbacks/store/delivery-store.ts';
import { withWriterLock } from '../../../src/pipeline/runs/writer-lock.ts';
import { writerEpochVariable } from '../../../src/pipeline/runs/held-lease.ts';
import { WriterLease } from '../../../src/fleet/storage/lease.ts';
import { ObjectStore, StorageError } from '../../../src/fleet/storage/object-store.ts';
import { takeEpoch } from '../../../src/fleet/storage/writer/sync-from-storage.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';

/** What all are to do next, read from a file that they share. */
export interface Orders {
  round: number;
  asOf: string;
  /** Of the clock of deliveries, in milliseconds: retries are due in the next rounds. */
  ahead: number;
  /** Nothing is to be done while files land: a run of the round before would take them up at its own as-of. */
  rests?: true;
  /** Who makes passes of delivery; leaders where absent. */
  senders?: 'leaders' | 'workers' | 'all';
}

const times = { renewal: 250, look: 100, believed: 2_000, silence: 3_500, wrongClock: 600_000 };

const [root = '', ordersFile = ''] = process.argv.slice(2);
const data = new DataDirectory(root);
const settings = readSettings(data);
if (settings.storage === undefined) throw new Error('no storage');
const store = await ObjectStore.open(settings.storage);
const logger = createLogger(process.stderr, 'warn');
const terminal = { logger, progress: noProgress };
const tell = (line: string) => process.stdout.write(`${line}\n`);
const clockAt = (now: number): Effects => ({ ...realEffects, now: () => now });
const sync = { data, settings, logger, effects: realEffects, store };

for (;;) {
  const lease = await WriterLease.acquire(
    { data, store, logger, effects: realEffects, times },
    (assertHeld) => withWriterLock('schedule', sync, () => takeEpoch(sync, assertHeld)),
    new AbortController().signal,
  );
  if (lease === undefined) break;
  tell(`leads epoch ${lease.epoch}`);
  process.env[writerEpochVariable] = String(lease.epoch);
  let done = -1;
  let told: string | undefined;
  while (!lease.lost.aborted) {
    const orders = JSON.parse(await readFile(ordersFile, 'utf8')) as Orders;
    if (orders.rests) {
      const word = `rests before round ${orders.round};`;
      if (word !== told) tell(word);
      told = word;
      await setTimeout(50);
      continue;
    }
    try {
      if (orders.round !== done) await refresh({ data, terminal, asOf: orders.asOf }, clockAt(wallClock));
      const delivered =
        orders.senders === 'workers'
          ? undefined
          : await deliverPostbacks({ data, terminal, command: 'postbacks deliver' }, clockAt(wallClock + orders.ahead));
      const word = `round ${orders.round} done, ${delivered?.remaining ?? 'an unknown number'} remaining;`;
      if (word !== told) tell(word);
      told = word;
      done = orders.round;
    } catch (error) {
      if (!(error instanceof StorageError || error instanceof StoreAwayError)) throw error;
      tell(`refused: ${error.message}`);
    }
    await setTimeout(50);
  }
  tell('lost');
}
