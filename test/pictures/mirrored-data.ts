import { readdir, writeFile } from 'node:fs/promises';
import { onTestFinished, vi } from 'vitest';
import { mirrorPublishedPictures, type MirroredSnapshot } from '../../pipelines/pictures.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects, type Effects } from '../../src/kit/files/effects.ts';
import { imageName } from '../../src/pipeline/landing/catalog/image-name.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../support/published-snapshot.ts';
import { serviceForTest, type RunningService } from '../support/running-service.ts';

export const begin = Date.parse('2026-11-20T12:00:00Z');
export const hour = 3_600_000;
export const day = 24 * hour;

/** A request for one picture takes no longer in tests. */
export const pictureMilliseconds = 400;

/** The path of the picture that a catalog names so. */
export const pathOf = (source: string) => `/asset/images/offers/${imageName(source)}`;

/** A data directory that mirrors pictures, with private addresses allowed for the running test. */
export class MirroredData {
  readonly data: DataDirectory;
  #snapshots = 0;
  #service: RunningService | undefined;

  private constructor(data: DataDirectory) {
    this.data = data;
  }

  static async create(...sources: string[]): Promise<MirroredData> {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const mirrored = new MirroredData(data);
    await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret' }]);
    await writeFile(data.settingsFile, '{"pictures": true}');
    await mirrored.publish(...sources);
    return mirrored;
  }

  /** Publishes a snapshot with an active offer for each of these pictures. */
  async publish(...sources: string[]): Promise<void> {
    const offers = sources.map((source, place) =>
      feedOffer({ id: place + 1, image_source: source, image_name: imageName(source) }),
    );
    const id = `snapshot-${++this.#snapshots}`;
    await writeSnapshot(this.data, id, { offers });
    await makeCurrent(this.data, id);
    await this.#service?.service.poll();
  }

  /** One pass at that time. */
  mirror(at = begin, effects: Effects = { ...realEffects, now: () => at }): Promise<MirroredSnapshot> {
    const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
    return mirrorPublishedPictures({ data: this.data, terminal, pictureMilliseconds }, effects);
  }

  /** The service over it, the same for the whole test. */
  async service(): Promise<RunningService> {
    return (this.#service ??= await serviceForTest(this.data, { pictures: true }));
  }

  async visit(source: string, init: RequestInit = {}): Promise<Response> {
    return (await this.service()).get(pathOf(source), { redirect: 'manual', ...init });
  }

  /** The status and, of a mirrored one, the bytes. */
  async served(source: string): Promise<Buffer | number> {
    const response = await this.visit(source);
    return response.status === 200 ? Buffer.from(await response.arrayBuffer()) : response.status;
  }

  /** Files of pictures, whole or not. */
  async files(): Promise<string[]> {
    return (await readdir(this.data.pictures)).filter((name) => /^[0-9a-f]{64}/.test(name)).toSorted();
  }
}
