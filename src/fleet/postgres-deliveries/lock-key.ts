import { createHash } from 'node:crypto';

/** The number of an advisory lock: such numbers are shared by all who use a database, so it is drawn from 64 bits. */
export function lockKey(storeId: string, what: string): string {
  return createHash('sha256').update(`offerline ${storeId} ${what}`).digest().readBigInt64BE().toString();
}
