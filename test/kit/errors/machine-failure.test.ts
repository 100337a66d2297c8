import { expect, it } from 'vitest';
import { exitCode, OfferlineError, UsageError } from '../../../src/kit/errors/errors.ts';
import { isMomentary, machineFailure } from '../../../src/kit/errors/machine-failure.ts';

const withCode = (code: string) => Object.assign(new Error(`${code}: write '/data/x'`), { code });

it.each([
  ['a full disk', withCode('ENOSPC'), /^The disk is full: free some room/],
  [
    'a full disk, reported by DuckDB',
    new Error('IO Error: Could not write file "/data/x": No space left on device'),
    /^The disk is full/,
  ],
  ['a full disk, reported by SQLite', new Error('database or disk is full'), /^The disk is full/],
  ['a quota', withCode('EDQUOT'), /^The disk is full/],
  ['missing rights', withCode('EACCES'), /cannot be read or written: let the user/],
  ['a read-only file system', withCode('EROFS'), /the file system is read-only: .* mount it for writing/],
  [
    'a read-only file system, reported by DuckDB',
    new Error('IO Error: Cannot open file "/data/x": Read-only file system'),
    /the file system is read-only/,
  ],
  [
    'missing rights, reported by DuckDB',
    new Error('IO Error: Cannot open file "/data/x": Permission denied'),
    /cannot be read or written/,
  ],
  ['a second file system', withCode('EXDEV'), /warehouse and published .* keep both on one/],
  ['too many open files', withCode('EMFILE'), /ulimit -n/],
  ['a failing disk', withCode('EIO'), /offerline doctor --deep/],
  ['a failing disk, or a full one, reported by SQLite', new Error('disk I/O error'), /free some room where it is full/],
  [
    'too little memory',
    new Error(
      'Out of Memory Error: failed to allocate data of size 16.0 MiB (20.0 MiB/24.0 MiB used)\n\nPossible solutions:',
    ),
    /duckdb\.memory_limit/,
  ],
  ['a failure within another', new Error('the stage failed', { cause: withCode('ENOSPC') }), /^The disk is full/],
])('%s is reported in one line, with advice and the original error', (_, error, message) => {
  const failure = machineFailure(error);
  expect(failure).toBeInstanceOf(OfferlineError);
  expect(failure?.exitCode).toBe(exitCode.failed);
  expect(failure?.message).toMatch(message);
  expect(failure?.message).not.toContain('\n');
  expect(failure?.message).toContain('What was published stays as it was');
});

it.each([
  new TypeError('undefined is not a function'),
  new UsageError('No space left on device'),
  withCode('ENOENT'),
  'ENOSPC',
  undefined,
])('leaves %s alone', (error) => {
  expect(machineFailure(error)).toBeUndefined();
});

it.each([
  [withCode('EMFILE'), true],
  [new Error('IO Error: Cannot open file "/data/x": Too many open files'), true],
  [new Error('a file cannot be read', { cause: withCode('ENOMEM') }), true],
  // As much memory is needed at the next try.
  [new Error('Out of Memory Error: failed to allocate data of size 16.0 MiB (20.0 MiB/24.0 MiB used)'), false],
  [withCode('EIO'), false],
  [undefined, false],
])('%s is worth another try: %s', (error, isWorthIt) => {
  expect(isMomentary(error)).toBe(isWorthIt);
});
