import { addressGroup } from '../../kit/http/client-address.ts';
import { minute, SlidingWindows } from '../../kit/http/sliding-windows.ts';

/** Of one site from one address. More is no person, and would spend an advertiser's money. */
const maxClicksPerMinute = 60;
/** Sites and addresses that are counted; beyond that the one that clicked longest ago is forgotten. */
const maxKnown = 200_000;

/** Bounds the clicks of one site from one address, IPv6 by its /64. Kept in memory: a restart forgets it. */
export class ClickRateLimit {
  readonly #windows = new SlidingWindows({ maxWindows: maxKnown });

  /** Counts a click where there is room for it; else returns the milliseconds until there is. */
  count(siteKey: string, address: string, now: number): number | undefined {
    const name = `${siteKey}\n${addressGroup(address)}`;
    const { allowed, freeAt } = this.#windows.consume({ name, limit: maxClicksPerMinute, length: minute }, now);
    return allowed ? undefined : freeAt - now;
  }
}
