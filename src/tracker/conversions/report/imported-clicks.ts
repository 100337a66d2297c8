import { basename } from 'node:path';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { SnapshotClicks } from '../../../pipeline/clicks/snapshot-clicks.ts';
import { SnapshotConnections } from '../../../pipeline/clicks/snapshot-connections.ts';
import type { NamedClick } from './known-clicks.ts';

/** Looks up clicks that landed as files, in the snapshot that is published at the time. */
export class ImportedClicks {
  readonly #data: DataDirectory;
  #name: string | undefined;
  #connections: SnapshotConnections | undefined;

  constructor(data: DataDirectory) {
    this.#data = data;
  }

  /** Rejects where the snapshot cannot be read, or where too many wait already. */
  async find(clickId: string): Promise<NamedClick | undefined> {
    const connections = await this.#current();
    if (connections === undefined) return undefined;
    const found = await new SnapshotClicks(connections).findOffer(clickId);
    if (found === undefined) return undefined;
    return {
      clickId,
      offerId: found.offer_id ?? undefined,
      clickedAt: Number(BigInt(found.clicked_at) / 1000n),
      user: { siteKey: found.site_key, userId: found.user_id },
    };
  }

  async close(): Promise<void> {
    await this.#connections?.retire();
    this.#connections = undefined;
  }

  /** Undefined where nothing is published yet. */
  async #current(): Promise<SnapshotConnections | undefined> {
    let name: string;
    try {
      name = basename(await readlink(this.#data.current));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    if (name !== this.#name) {
      const before = this.#connections;
      this.#name = name;
      this.#connections = new SnapshotConnections(join(this.#data.published, name));
      // Look-ups that are under way in it go on.
      void before?.retire().catch(() => {});
    }
    return this.#connections;
  }
}
