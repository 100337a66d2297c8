import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { readWarehouseHolder } from '../../pipeline/runs/lock.ts';
import { readStatus, type Status } from '../../pipeline/status/status.ts';

/** How all stands, in one word, the worst. */
export interface Health {
  /** `alarm` where `offerline status` fails, `attention` where it has something to do. */
  word: 'well' | 'attention' | 'alarm';
  /** What `offerline status` says; undefined before the first look. */
  status: Status | undefined;
  /** Which run is under way; null where none is. */
  running: string | null;
  /** When that was found, milliseconds since the epoch. */
  lookedAt: number;
}

/** Looks at how all stands now and then, so that no page waits for it. */
export class HealthWatch {
  readonly #data: DataDirectory;
  readonly #settings: Settings;
  readonly #log: Logger;
  #found: Health = { word: 'attention', status: undefined, running: null, lookedAt: 0 };

  constructor(data: DataDirectory, settings: Settings, log: Logger) {
    this.#data = data;
    this.#settings = settings;
    this.#log = log;
  }

  /** What was found last, and who holds the warehouse at this moment. */
  get now(): Health {
    const holder = readWarehouseHolder(this.#data);
    return { ...this.#found, running: holder === undefined ? null : `${holder.command} is running` };
  }

  async look(now: number): Promise<void> {
    try {
      const status = await readStatus(this.#data, this.#settings, now);
      const word =
        status.alarms.length + status.stale.length > 0 ? 'alarm' : status.to_do.length > 0 ? 'attention' : 'well';
      this.#found = { word, status, running: null, lookedAt: now };
    } catch (error) {
      this.#log.error({ err: error }, 'health check failed; showing the last result');
    }
  }
}
