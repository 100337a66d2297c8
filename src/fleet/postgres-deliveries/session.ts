import pg from 'pg';
import { Redactor } from '../../kit/config/secrets.ts';
import { OfferlineError, UsageError } from '../../kit/errors/errors.ts';
import { StoreAwayError } from '../../postbacks/store/delivery-store.ts';
import { assertKeepsSessions, dealsOutError } from './pool-between.ts';

const connectMilliseconds = 10_000;
/** A statement that takes longer has lost its server. Long enough for a purge of millions of attempts. */
const patientMilliseconds = 600_000;
/** The same for a pass, which must know before the server gives its sites to others; see `aliveSettings`. */
const passMilliseconds = 20_000;

/**
 * A session whose machine is gone loses its locks after a minute: later than its pass has noticed, and than what that
 * had sent has ended.
 */
const aliveSettings = `SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;
  SET idle_in_transaction_session_timeout = '60s'`;

/**
 * A pass is heard of more often than that, since no request takes longer than 15 s: one that is not has been stopped,
 * and its sites are others' then. Only what version 14 or newer knows is set; before that its sites wait for it.
 */
const passSettings = `SELECT set_config(name, '60s', false) FROM pg_settings WHERE name = 'idle_session_timeout'`;
/** After so long a pass that hears nothing sends no more: earlier than the server may give its sites to others. */
const sureMilliseconds = 45_000;

/** Schema of all tables, beside those of others in the same database. */
export const schema = 'offerline';

export type PostgresRow = Record<string, unknown>;
export type Value = string | number | boolean | null | readonly string[];

/** BIGINT, which holds milliseconds and counts here: within what a number holds exactly. */
const bigint = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === bigint ? Number : pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
};

/** Use of a store: a move fills one, and leaves another. */
export type StoreUse = 'in use' | 'filling' | 'moved away';

/** Throws `UsageError` for a store that nobody may deliver from. */
export function assertInUse(standing: StoreUse, where: string): void {
  if (standing === 'filling')
    throw new UsageError(
      `not all deliveries have arrived in PostgreSQL at ${where}: \`offerline postbacks move --to postgres\` goes on, on the machine with their file`,
    );
  if (standing === 'moved away')
    throw new UsageError(
      `the deliveries in PostgreSQL at ${where} were moved to SQLite: take postbacks.store out of offerline.json`,
    );
}

/** Numbers for rows that are written, within one transaction. */
export interface ChangeNumbers {
  /** The greatest number given so far. */
  last: number;
}

/** Fields of node-postgres' client that its type lacks. */
interface ClientFields {
  /** Number of the server process, or one that a pool in between made up. */
  processID: number;
  connection: { stream: { destroy(): void } };
}

/** One connection, whose locks on sites go when it ends, however it ends. */
export class PostgresSession {
  /** Host, port and database. */
  readonly where: string;
  readonly #client: pg.Client;
  readonly #redactor: Redactor;
  #milliseconds = patientMilliseconds;
  readonly #lost = new AbortController();
  /** The server process that holds the locks. */
  #backend: unknown;
  /** Moment at which the last answered query was asked, by both clocks in milliseconds. */
  #asked = { steady: 0, wall: 0 };

  private constructor(address: URL) {
    this.where = `${address.host || address.searchParams.get('host') || 'localhost'}${address.pathname}`;
    this.#redactor = new Redactor([address.password, decodeURIComponent(address.password)]);
    this.#client = new pg.Client({
      connectionString: address.href,
      connectionTimeoutMillis: connectMilliseconds,
      keepAlive: true,
      application_name: 'offerline',
      types,
    });
    // The next query throws it.
    this.#client.on('error', (error) => this.#lost.abort(error));
    this.#client.on('end', () => this.#lost.abort(new Error('the connection has ended')));
  }

  /** Throws `UsageError` for what is no address, `StoreAwayError` where nobody answers or lets us in. */
  static async connect(address: string): Promise<PostgresSession> {
    if (!isAddress(address))
      throw new UsageError(
        'postbacks.store is not an address such as postgres://user:password@host/database; a % in it is written %25',
      );
    const session = PostgresSession.#of(new URL(address));
    try {
      await session.#client.connect();
      session.#backend = await session.backend();
      // A pool in between reports a number of its own.
      if (session.#backend !== session.#fields.processID) {
        const another = PostgresSession.#of(new URL(address));
        try {
          await another.#client.connect();
          await another.hurry();
          await assertKeepsSessions(session, another);
        } finally {
          await another.close();
        }
      }
      await session.run(`${aliveSettings}; SET synchronous_commit = on; SET search_path = ${schema}`);
      return session;
    } catch (error) {
      await session.close();
      throw error instanceof OfferlineError ? error : session.#away(error);
    }
  }

  /** Throws `UsageError` where a file that the address names cannot be read. */
  static #of(address: URL): PostgresSession {
    try {
      return new PostgresSession(address);
    } catch (error) {
      const { syscall, message } = error as NodeJS.ErrnoException;
      if (syscall === undefined) throw error;
      throw new UsageError(
        `postbacks.store: a file that the address names (sslrootcert, sslcert, sslkey) cannot be read: ${message}`,
        { cause: error },
      );
    }
  }

  /** The server process that answers just now. */
  async backend(): Promise<unknown> {
    const [row] = await this.query('SELECT pg_backend_pid() AS backend');
    return row?.['backend'];
  }

  get #fields(): ClientFields {
    return this.#client as unknown as ClientFields;
  }

  /** Aborted when the connection is, by whomever. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** From now on a server that does not answer is given up soon, and it gives us up soon where we say nothing. */
  async hurry(): Promise<void> {
    this.#milliseconds = passMilliseconds;
    await this.run(passSettings);
  }

  /**
   * True where the server was asked so lately, by a clock that nobody sets and by one that goes on while the machine
   * sleeps, that it must hold our locks still.
   */
  get isSure(): boolean {
    const since = Math.max(performance.now() - this.#asked.steady, Date.now() - this.#asked.wall);
    return !this.lost.aborted && since < sureMilliseconds;
  }

  /** With `name` it is planned once for the session. Throws `StoreAwayError` where the server is lost. */
  async query(text: string, values: readonly Value[] = [], name?: string): Promise<PostgresRow[]> {
    const { rows } = await this.#ask(text, values, name);
    return rows;
  }

  /** Number of rows written or removed. */
  async change(text: string, values: readonly Value[] = []): Promise<number> {
    return (await this.#ask(text, values)).rowCount ?? 0;
  }

  /** Statements without values, in one go. */
  async run(text: string): Promise<void> {
    await this.#ask(text);
  }

  /** All of it or nothing; on the server's disk when it returns. One writer at a time, of all sessions. */
  async write<Result>(work: (changes: ChangeNumbers) => Promise<Result>): Promise<Result> {
    return this.transaction(async () => {
      const [row] = await this.query(
        'SELECT changes, standing, pg_backend_pid() AS backend FROM store FOR UPDATE',
        [],
        'lock-store',
      );
      if (row?.['backend'] !== this.#backend) throw dealsOutError(this.where);
      assertInUse(row?.['standing'] as StoreUse, this.where);
      const before = Number(row?.['changes']);
      const changes = { last: before };
      const result = await work(changes);
      if (changes.last !== before) await this.query('UPDATE store SET changes = $1', [changes.last], 'write-changes');
      return result;
    });
  }

  /** Several reads of one state. */
  async read<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.transaction(work, 'ISOLATION LEVEL REPEATABLE READ READ ONLY');
  }

  /** All of it or nothing, whatever the store is for. */
  async transaction<Result>(work: () => Promise<Result>, mode = ''): Promise<Result> {
    await this.run(`BEGIN ${mode}`);
    try {
      const result = await work();
      await this.run('COMMIT');
      return result;
    } catch (error) {
      await this.#client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    // An end that nobody answers is waited for no longer than a connection.
    const timer = setTimeout(() => this.#destroy(), connectMilliseconds);
    await this.#client.end().catch(() => undefined);
    clearTimeout(timer);
  }

  async #ask(text: string, values: readonly Value[] = [], name?: string): Promise<pg.QueryResult<PostgresRow>> {
    if (this.lost.aborted) throw this.#away(this.lost.reason);
    // The type of node-postgres does not know this option, which it reads for each query.
    const config = { text, values: [...values], name, query_timeout: this.#milliseconds };
    const asked = { steady: performance.now(), wall: Date.now() };
    try {
      const result = await this.#client.query<PostgresRow>(config);
      this.#asked = asked;
      return result;
    } catch (error) {
      if (!isOfServer(error)) {
        this.#lost.abort(error);
        this.#destroy();
        throw this.#away(error);
      }
      throw isAway(error) ? this.#away(error) : this.#failure(error);
    }
  }

  /** Also where the other end does not answer: nothing of this session is carried out after that. */
  #destroy(): void {
    this.#fields.connection.stream.destroy();
  }

  #away(error: unknown): StoreAwayError {
    return new StoreAwayError(
      `PostgreSQL at ${this.where} (postbacks.store) cannot be reached: ${this.#messageOf(error)}. Postbacks wait and none is lost: see that it runs and lets this machine in`,
    );
  }

  #failure(error: unknown): OfferlineError {
    return new OfferlineError(`PostgreSQL at ${this.where} (postbacks.store) failed: ${this.#messageOf(error)}`);
  }

  /** Returns the message alone: the error of the client holds the password. */
  #messageOf(error: unknown): string {
    const { message, code, errors } = error as Error & { code?: string; errors?: Error[] };
    return this.#redactor.redact(message || errors?.[0]?.message || code || 'no reason was given');
  }
}

function isAddress(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return ['postgres:', 'postgresql:'].includes(protocol);
  } catch {
    return false;
  }
}

/** True for an error that the server itself reported, by a code of five characters. */
function isOfServer(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code)) && 'severity' in (error as object);
}

/**
 * Connection lost, a transaction that was silent for too long, not let in, no such database, too many connections, no
 * room, shutting down, a statement cancelled; read-only after a failover or on a full disk, no right to write, a lock
 * that others hold for too long: another time it may be there.
 */
function isAway(error: unknown): boolean {
  return /^(08|25006|25P03|28|3D|42501|53|55P03|57|58)/.test(String((error as { code?: unknown }).code));
}
