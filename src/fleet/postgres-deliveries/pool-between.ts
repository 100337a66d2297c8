import { UsageError } from '../../kit/errors/errors.ts';

/** Part of a session by which a pool is found out; `PostgresSession` has it. */
interface AskedSession {
  readonly where: string;
  backend(): Promise<unknown>;
  transaction<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** A pool that is busy with others may by chance give a session the same process again. */
const looks = 3;

/**
 * Throws `UsageError` where a pool in between, such as PgBouncer, gives the server's processes to any client that has
 * a transaction: locks of a session would be everybody's, or nobody's. Where sessions are kept, the process of one that
 * is idle stays its own, whatever another one asks for.
 */
export async function assertKeepsSessions(idle: AskedSession, another: AskedSession): Promise<void> {
  const own = await idle.backend();
  for (let look = 0; look < looks; look++)
    await another.transaction(async () => {
      if ((await another.backend()) === own || (await idle.backend()) !== own) throw dealsOutError(idle.where);
    });
}

export function dealsOutError(where: string): UsageError {
  return new UsageError(
    `a transaction-mode pool (PgBouncer?) is in use at ${where}; advisory locks need session mode: name the server itself in postbacks.store, or set pool_mode = session`,
  );
}
