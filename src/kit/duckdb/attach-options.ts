/** Options of `ATTACH` for files that are made by one process, at once. */

/** For small tables: each has blocks of its own, so that at their usual size nearly all of the file would be empty. */
export const smallBlocks = 'BLOCK_SIZE 16384';
/** Commits go to the file alone: nobody recovers half of one, it is made again. */
export const noLog = 'RECOVERY_MODE no_wal_writes';
