import { request } from 'undici';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { createTracker, type Tracker } from '../../tracker/tracker.ts';
import { trackerAddress, type GivenAddress } from '../../tracker/tracker-address.ts';
import { acquireTrackerLock, TrackerBusyError } from '../../tracker/tracker-lock.ts';

/** A tracker to try offers with. */
export interface TrackerAccess {
  /** Such as `http://127.0.0.1:8082`. */
  address: string;
  /** True where it runs for the trial alone. */
  isOwn: boolean;
  /** Hands over to landing what was recorded, where it is ours; one that runs does so by itself, within a minute. */
  handOver(): Promise<void>;
  close(): Promise<void>;
}

export interface TrackerWanted {
  data: DataDirectory;
  settings: Settings;
  log: Logger;
  /** Address of the tracker that runs, in place of the one that it has written down. */
  at: GivenAddress;
}

/** The tracker that runs on the data directory; where none does, the same code on a free port until it is closed. */
export async function openTracker(wanted: TrackerWanted): Promise<TrackerAccess> {
  const { data, settings, log } = wanted;
  const lock = await acquireTrackerLock(data, { command: 'track test', waitSeconds: 0, onWaiting: () => {} }).catch(
    (error: unknown) => {
      if (error instanceof TrackerBusyError) return undefined;
      throw error;
    },
  );
  if (lock === undefined) return running(wanted);
  let tracker: Tracker | undefined;
  const open = async (port: number) => {
    tracker = await createTracker({ data, settings, log });
    return tracker.listen({ host: '127.0.0.1', port });
  };
  const shut = async () => {
    await tracker?.close();
    tracker = undefined;
  };
  try {
    const address = await open(0);
    return {
      address,
      isOwn: true,
      async handOver() {
        await shut();
        await open(Number(new URL(address).port));
      },
      async close() {
        await shut();
        lock.release();
      },
    };
  } catch (error) {
    await shut();
    lock.release();
    throw error;
  }
}

async function running({ data, settings: { tracker }, at }: TrackerWanted): Promise<TrackerAccess> {
  const address = trackerAddress(data, tracker, at);
  try {
    await (await request(new URL('/healthz', address))).body.dump();
  } catch (error) {
    throw new OfferlineError(
      `A tracker works on ${data.root} or its landing folder, perhaps of another machine, but none answers at ${address}: name its address before the word test, as in \`offerline track --port 8082 test\`, or try the offer on its machine.`,
      undefined,
      { cause: error },
    );
  }
  const nothing = () => Promise.resolve();
  return { address, isOwn: false, handOver: nothing, close: nothing };
}
