import { setTimeout } from 'node:timers/promises';

/** Resolves after milliseconds, and rejects where the signal is aborted before. A test moves the time itself. */
export type AbortableWait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

export const realWait: AbortableWait = (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal });
