import { OfferlineError } from './errors.ts';

interface Ailment {
  /** Codes of the operating system. */
  codes: readonly string[];
  /** What DuckDB and SQLite say, who tell no code. */
  words: RegExp;
  advice: string;
}

const safe = 'What was published stays as it was, and the next run goes on from there';

/** Room of the disk, or of the user. */
const fullDisk: readonly string[] = ['ENOSPC', 'EDQUOT'];

const ailments: readonly Ailment[] = [
  {
    codes: fullDisk,
    words: /no space left on device|disk quota exceeded|database or disk is full/i,
    advice: `The disk is full: free some room and run again. ${safe}`,
  },
  {
    codes: ['EFBIG'],
    words: /file too large/i,
    advice: `A file may not grow that large here: raise the limit on file sizes (ulimit -f) and run again. ${safe}`,
  },
  {
    codes: ['EMFILE', 'ENFILE'],
    words: /too many open files/i,
    advice: `Too many files are open: raise the limit (ulimit -n, LimitNOFILE of a systemd unit) and run again. ${safe}`,
  },
  {
    codes: ['EACCES', 'EPERM', 'EROFS'],
    words: /permission denied|read-only file system|attempt to write a readonly database/i,
    advice: `The data directory cannot be read or written: let the user who runs offerline read and write it, and everything in it. ${safe}`,
  },
  {
    codes: ['EIO'],
    words: /input\/output error|disk i\/o error/i,
    advice: `The disk failed to read or write: look at the system's log, then run \`offerline doctor --deep\`. ${safe}`,
  },
  {
    codes: ['ENOMEM'],
    words: /out of memory error|cannot allocate memory|failed to allocate/i,
    advice: `There is too little memory: raise or lower duckdb.memory_limit in offerline.json to about half of what is free, or set duckdb.threads lower, and run again. ${safe}`,
  },
];

/**
 * What an operator is told where the machine failed and not the program: a full disk, missing rights, too little
 * memory. Undefined for any other error.
 */
export function machineFailure(error: unknown): OfferlineError | undefined {
  if (error instanceof OfferlineError) return undefined;
  if (!(error instanceof Error)) return undefined;
  const { code = '', message, cause } = error as NodeJS.ErrnoException;
  const ailment =
    ailments.find(({ codes }) => codes.includes(code)) ?? ailments.find(({ words }) => words.test(message));
  if (ailment !== undefined)
    return new OfferlineError(`${ailment.advice}. Original error: ${message.split('\n')[0] ?? ''}`, undefined, {
      cause: error,
    });
  return cause instanceof Error ? machineFailure(cause) : undefined;
}

/** Whether an error, or what caused it, says that the disk takes nothing more, while what is on it may be read. */
export function tellsUnwritableDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', message } = error as NodeJS.ErrnoException;
  return (
    code === 'EROFS' ||
    fullDisk.includes(code) ||
    /database or disk is full/.test(message) ||
    tellsUnwritableDisk(error.cause)
  );
}

/** Whether the operating system said that there is no room. */
export function tellsFullDisk(error: unknown): boolean {
  return fullDisk.includes((error as NodeJS.ErrnoException).code ?? '');
}
