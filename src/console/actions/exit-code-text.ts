import { exitCode } from '../../kit/errors/errors.ts';

/** What an exit code means to an operator. */
export function exitWords(code: number): string {
  switch (code) {
    case exitCode.done:
      return 'done';
    case exitCode.usage:
      return 'refused by the command: a parameter or the configuration is wrong, and nothing was changed';
    case exitCode.busy:
      return 'the warehouse stayed busy: another run holds it. Nothing was changed; try again when that has ended';
    case exitCode.audit:
      return 'an audit failed: nothing was published, the last good snapshot stays';
    default:
      return 'failed; what was good before stays';
  }
}
