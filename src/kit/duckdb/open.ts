import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { keepByteOrderMarks } from './byte-order-marks.ts';

export const inMemory = ':memory:';
/** Options for a database that other processes read at the same time. */
export const readOnly = { access_mode: 'READ_ONLY' } as const;
/**
 * All extensions that we use are built in; a query that needs another fails here and does not reach for the network.
 */
const builtInOnly = { autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' } as const;

/** A database with its first connection. Connections are closed with it. */
export interface OpenDuckDB {
  readonly connection: DuckDBConnection;
  /** Opens one more connection, for statements that run beside others. */
  connect(): Promise<DuckDBConnection>;
  /** Has the statements under way on all connections end with an error. */
  interrupt(): void;
  /** May be called twice. */
  close(): void;
}

/**
 * Opens a database file, made where there is none, or one `inMemory`. Times are in UTC on every connection. `options`
 * are DuckDB's own; `setUp` is SQL for every connection. Throws DuckDB's error where the file cannot be opened.
 */
export async function openDuckDB(
  path: string,
  options: Readonly<Record<string, string>> = {},
  setUp = '',
): Promise<OpenDuckDB> {
  keepByteOrderMarks();
  const instance = await DuckDBInstance.create(path, { ...builtInOnly, ...options });
  const connections: DuckDBConnection[] = [];
  const connect = async () => {
    const connection = await instance.connect();
    connections.push(connection);
    await connection.run(`SET TimeZone = 'UTC'; ${setUp}`);
    return connection;
  };
  const interrupt = () => {
    for (const connection of connections) connection.interrupt();
  };
  const close = () => {
    for (const connection of connections.splice(0)) connection.closeSync();
    instance.closeSync();
  };
  try {
    return { connection: await connect(), connect, interrupt, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Opens a database, passes its connection to `work`, and closes it in any case. */
export async function withDuckDB<Result>(
  path: string,
  options: Readonly<Record<string, string>>,
  work: (connection: DuckDBConnection) => Promise<Result>,
): Promise<Result> {
  const database = await openDuckDB(path, options);
  try {
    return await work(database.connection);
  } finally {
    database.close();
  }
}
