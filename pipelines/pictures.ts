import { join } from 'node:path';
import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { readSettings, type Settings } from '../src/kit/config/settings.ts';
import { exitCode, OfferlineError, UsageError } from '../src/kit/errors/errors.ts';
import { feedOffersFile } from '../src/pipeline/feed/feed-document.ts';
import { FeedOffers } from '../src/pipeline/feed/feed-offers.ts';
import { pictureOf, type FeedPicture } from '../src/pictures/feed-pictures.ts';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import { acquireProcessLock } from '../src/kit/files/process-lock.ts';
import { allowsPrivateNetworks } from '../src/kit/guard/address-guard.ts';
import type { Terminal } from '../src/kit/logging/progress.ts';
import { mirrorPictures, type MirrorSummary } from '../src/pictures/mirror-pictures.ts';
import { PictureIndex, type IndexedPicture } from '../src/pictures/picture-index.ts';
import { PictureRequests } from '../src/pictures/picture-request.ts';
import { withNotedOutcome } from '../src/pipeline/runs/pipeline-outcomes.ts';
import { currentName } from '../src/pipeline/snapshot/snapshot-store.ts';
import { verifySnapshot } from '../src/pipeline/snapshot/verify.ts';

interface PicturesRequest {
  data: DataDirectory;
  terminal: Terminal;
  /** Aborted when the pass is asked to end. */
  stop?: AbortSignal;
  /** Time for all requests for one picture; half a minute by default. */
  pictureMilliseconds?: number;
}

export interface MirroredSnapshot extends MirrorSummary {
  /** Null while nothing is published. */
  snapshot_id: string | null;
  /** Pictures whose last request failed. */
  failing: Pick<IndexedPicture, 'name' | 'address' | 'error' | 'failures' | 'next_at' | 'file'>[];
}

/** Another process mirrors pictures. */
class PicturesBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

/**
 * Mirrors the pictures of the published snapshot's active offers. Never opens the warehouse. Throws `UsageError` where
 * it is not switched on, and the machine's errors; a failed picture is counted.
 */
export async function mirrorPublishedPictures(
  request: PicturesRequest,
  effects: Effects = realEffects,
): Promise<MirroredSnapshot> {
  const { data, terminal } = request;
  const settings = readSettings(data);
  if (!settings.pictures)
    throw new UsageError(
      `pictures are not mirrored: say "pictures": true in ${data.settingsFile}, and restart what serves and schedules`,
    );
  const noting = { data, effects, logger: terminal.logger };
  return withNotedOutcome(noting, 'pictures', () => mirror(request, settings, effects), request.stop);
}

async function mirror(
  { data, terminal, stop = new AbortController().signal, pictureMilliseconds }: PicturesRequest,
  settings: Settings,
  effects: Effects,
): Promise<MirroredSnapshot> {
  const lock = await acquireProcessLock(
    {
      name: 'mirroring of pictures',
      lockFile: data.pictureLockFile,
      busy: (message) => new PicturesBusyError(message),
    },
    {
      command: 'pictures',
      waitSeconds: settings.lock_wait_seconds,
      onWaiting: (message) => terminal.logger.info(message),
    },
  );
  try {
    using index = await PictureIndex.open(data, effects.files, (problem) =>
      terminal.logger.warn(
        `the index of pictures is damaged (${problem}): making a new one, and asking for all pictures again`,
      ),
    );
    index.beginPass(effects.now());
    const requests = new PictureRequests({
      allowPrivate: allowsPrivateNetworks(process.env),
      connectMilliseconds: 10_000,
    });
    try {
      const { snapshotId, pictures } = await publishedPictures(data);
      const summary = await mirrorPictures(
        pictures,
        { folder: data.pictures, index, requests, terminal, stop, pictureMilliseconds },
        effects,
      );
      index.endPass(effects.now(), null);
      const failing = index.failing().map(({ name, address, error, failures, next_at, file }) => ({
        name,
        address,
        error,
        failures,
        next_at,
        file,
      }));
      return { snapshot_id: snapshotId, ...summary, failing };
    } catch (error) {
      index.endPass(effects.now(), (error as Error).message);
      throw error;
    } finally {
      await requests.close();
    }
  } finally {
    lock.release();
  }
}

/** Returns the pictures of active offers, each name once; none while nothing is published. */
async function publishedPictures(data: DataDirectory): Promise<{ snapshotId: string | null; pictures: FeedPicture[] }> {
  const snapshotId = await currentName(data);
  if (snapshotId === undefined) return { snapshotId: null, pictures: [] };
  const folder = join(data.published, snapshotId);
  await verifySnapshot(folder, (path) => path === feedOffersFile);
  const feed = await FeedOffers.read(join(folder, feedOffersFile));
  const pictures = new Map<string, FeedPicture>();
  for (let line = 0; line < feed.count; line++) {
    const offer = feed.at(line);
    const picture = offer.status === 'active' ? pictureOf(offer) : undefined;
    if (picture !== undefined) pictures.set(picture.name, picture);
  }
  return { snapshotId, pictures: [...pictures.values()] };
}
