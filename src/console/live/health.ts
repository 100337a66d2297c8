import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { readWarehouseHolder } from '../../pipeline/runs/lock.ts';
import { readStatus, type Status } from '../../pipeline/status/status.ts';

/** The health of the pipeline in one word, the worst of all checks. */
export interface HealthSummary {
  /** `alarm` where `offerline status` fails, `attention` where it lists something to do. */
  word: 'well' | 'attention' | 'alarm';
  /** The report of `offerline status`; undefined before the first check. */
  status: Status | undefined;
  /** The command that holds the warehouse; null where none does. */
  running: string | null;
  /** The time of the check, milliseconds since the epoch. */
  checkedAt: number;
}

/** Checks health in the background, so that no page waits for it. */
export class HealthMonitor {
  readonly #data: DataDirectory;
  readonly #settings: Settings;
  readonly #log: Logger;
  #last: HealthSummary = { word: 'attention', status: undefined, running: null, checkedAt: 0 };

  constructor(data: DataDirectory, settings: Settings, log: Logger) {
    this.#data = data;
    this.#settings = settings;
    this.#log = log;
  }

  /** The last result, with the command that holds the warehouse at this moment. */
  get latest(): HealthSummary {
    const holder = readWarehouseHolder(this.#data);
    return { ...this.#last, running: holder === undefined ? null : `${holder.command} is running` };
  }

  async check(now: number): Promise<void> {
    try {
      const status = await readStatus(this.#data, this.#settings, now);
      const word =
        status.alarms.length + status.stale.length > 0 ? 'alarm' : status.to_do.length > 0 ? 'attention' : 'well';
      this.#last = { word, status, running: null, checkedAt: now };
    } catch (error) {
      this.#log.error({ err: error }, 'health check failed; showing the last result');
    }
  }
}
