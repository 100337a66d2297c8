import { quoted } from '../text/sql-text.ts';
import { inMemory, withDuckDB } from './open.ts';

/**
 * Writes all rows of a database that nobody has open into a new file. Reading them proves every block of theirs, and
 * keys are built again: damage within an index, which no query shows until it is used, does not come along. Throws
 * DuckDB's error where a block is damaged.
 */
export async function rewriteDatabase(from: string, to: string): Promise<void> {
  await withDuckDB(inMemory, {}, async (connection) => {
    await connection.run(`ATTACH ${quoted(from)} AS damaged (READ_ONLY)`);
    await connection.run(`ATTACH ${quoted(to)} AS fresh`);
    await connection.run('COPY FROM DATABASE damaged TO fresh');
    await connection.run('CHECKPOINT fresh');
    await connection.run('DETACH fresh');
  });
}
