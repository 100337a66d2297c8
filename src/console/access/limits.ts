import { SlidingWindows, type LimitBucket, type LimitStatus } from '../../kit/http/sliding-windows.ts';

const minute = 60_000;
/** Users and addresses that are counted at once; beyond that the least recent one starts again from 0. */
const maxWindows = 10_000;

/** Requests of each kind that one user or address may make within `length` milliseconds. */
const allowances = {
  'sign-in': { limit: 5, length: minute },
  page: { limit: 20, length: 1000 },
  action: { limit: 10, length: minute },
} as const;
export type Counted = keyof typeof allowances;

/** Rate limits. Each kind has windows of its own, so that a flood of pages does not displace counts of sign-ins. */
export class AccessLimits {
  readonly #windows: Record<Counted, SlidingWindows> = {
    'sign-in': new SlidingWindows({ maxWindows: maxWindows }),
    page: new SlidingWindows({ maxWindows: maxWindows }),
    action: new SlidingWindows({ maxWindows: maxWindows }),
  };

  /** `client`: a user or an address. */
  count(kind: Counted, client: string, now: number): LimitStatus {
    const bucket: LimitBucket = { name: client, ...allowances[kind] };
    return this.#windows[kind].consume(bucket, now);
  }
}
