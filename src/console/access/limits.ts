import { SlidingWindows, type Bucket, type LimitStatus } from '../../kit/http/sliding-windows.ts';

const minute = 60_000;
/** How many sessions and addresses are counted at once; beyond that whoever was away longest begins anew. */
const mostWindows = 10_000;

/** What a request counts as, and how much of it one session or address may do within how many milliseconds. */
const allowances = {
  'sign-in': { limit: 5, length: minute },
  page: { limit: 20, length: 1000 },
  action: { limit: 10, length: minute },
} as const;
export type Counted = keyof typeof allowances;

/** What may be done how often. Kinds have windows of their own, so that no flood of pages pushes guesses out. */
export class AccessLimits {
  readonly #windows: Record<Counted, SlidingWindows> = {
    'sign-in': new SlidingWindows({ maxWindows: mostWindows }),
    page: new SlidingWindows({ maxWindows: mostWindows }),
    action: new SlidingWindows({ maxWindows: mostWindows }),
  };

  /** `who`: a session, a user whom a proxy names, or an address. */
  count(kind: Counted, who: string, now: number): LimitStatus {
    const bucket: Bucket = { name: who, ...allowances[kind] };
    return this.#windows[kind].consume(bucket, now);
  }
}
