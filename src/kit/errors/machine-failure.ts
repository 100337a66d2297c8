import { OfferlineError } from './errors.ts';

interface SystemErrorRule {
  /** Codes of the operating system. */
  codes: readonly string[];
  /** Messages of DuckDB and SQLite, whose errors have no code. */
  messages: RegExp;
  advice: string;
}

const safe = 'What was published stays as it was, and the next run goes on from there';

/** No right of a user helps where the file system itself takes nothing. */
export const readOnlyAdvice =
  "the file system is read-only: look at the system's log, since a failing disk becomes so, and mount it for writing";

/** No room on the disk, or in the user's quota. */
const fullDisk: readonly string[] = ['ENOSPC', 'EDQUOT'];

const rules: readonly SystemErrorRule[] = [
  {
    codes: fullDisk,
    messages: /no space left on device|disk quota exceeded|database or disk is full/i,
    advice: `The disk is full: free some room and run again. ${safe}`,
  },
  {
    codes: ['EFBIG'],
    messages: /file too large/i,
    advice: `A file may not grow that large here: raise the limit on file sizes (ulimit -f) and run again. ${safe}`,
  },
  {
    codes: ['EMFILE', 'ENFILE'],
    messages: /too many open files/i,
    advice: `Too many files are open: raise the limit (ulimit -n, LimitNOFILE of a systemd unit) and run again. ${safe}`,
  },
  {
    codes: ['EROFS'],
    messages: /read-only file system/i,
    advice: `The file or folder named below cannot be written, ${readOnlyAdvice}, then run again. ${safe}`,
  },
  {
    codes: ['EXDEV'],
    messages: /cross-device link/i,
    advice: `The folders warehouse and published of the data directory are on two file systems, and share their files by hard links: keep both on one, and run again. ${safe}`,
  },
  {
    codes: ['EACCES', 'EPERM'],
    messages: /permission denied|attempt to write a readonly database/i,
    advice: `A file or folder cannot be read or written: let the user who runs offerline read and write the one named below, and all of the data directory. ${safe}`,
  },
  {
    codes: ['EIO'],
    messages: /input\/output error|disk i\/o error/i,
    // SQLite says so, too, where there is no room for what it keeps beside its file.
    advice: `The disk failed to read or write: free some room where it is full; else look at the system's log, then run \`offerline doctor --deep\`. ${safe}`,
  },
  {
    codes: ['ENOMEM'],
    messages: /out of memory error|cannot allocate memory|failed to allocate/i,
    advice: `There is too little memory: raise or lower duckdb.memory_limit in offerline.json to about half of what is free, or set duckdb.threads lower, and run again. ${safe}`,
  },
];

/**
 * Returns an error with advice for the operator where the machine failed and not the program: a full disk, missing
 * rights, too little memory. Undefined for any other error.
 */
export function machineFailure(error: unknown): OfferlineError | undefined {
  if (error instanceof OfferlineError) return undefined;
  if (!(error instanceof Error)) return undefined;
  const { code = '', message, cause } = error as NodeJS.ErrnoException;
  const rule = rules.find(({ codes }) => codes.includes(code)) ?? rules.find(({ messages }) => messages.test(message));
  if (rule !== undefined)
    return new OfferlineError(`${rule.advice}. Original error: ${message.split('\n')[0] ?? ''}`, undefined, {
      cause: error,
    });
  return cause instanceof Error ? machineFailure(cause) : undefined;
}

/** Codes of a process that has too much open or too little memory for now. */
const momentary: readonly string[] = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'];

/**
 * True where an error, or its cause, is of the machine's moment and not of what was read: worth another try. DuckDB's
 * errors have no code; what exceeds its own `memory_limit` does so at the next try, too.
 */
export function isMomentary(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', message } = error as NodeJS.ErrnoException;
  return (
    momentary.includes(code) || /too many open files|cannot allocate memory/i.test(message) || isMomentary(error.cause)
  );
}

/** True where an error, or its cause, means that the disk can be read and not written. */
export function isDiskUnwritable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', message } = error as NodeJS.ErrnoException;
  return (
    code === 'EROFS' ||
    fullDisk.includes(code) ||
    /database or disk is full|no space left on device|disk quota exceeded|read-only file system/i.test(message) ||
    isDiskUnwritable(error.cause)
  );
}

/** True for the operating system's own errors of a full disk or quota. */
export function isDiskFull(error: unknown): boolean {
  return fullDisk.includes((error as NodeJS.ErrnoException).code ?? '');
}
