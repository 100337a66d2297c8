import { exitCode } from '../../kit/errors/errors.ts';

/** The meaning of a command's exit code, for an operator. */
export function exitCodeText(code: number): string {
  switch (code) {
    case exitCode.done:
      return 'done';
    case exitCode.usage:
      return 'refused by the command: a parameter or the configuration is wrong; nothing was changed';
    case exitCode.busy:
      return 'the warehouse stayed busy: another run holds it. Nothing was changed; try again when that run has ended';
    case exitCode.audit:
      return 'an audit failed: nothing was published; the last good snapshot stays';
    default:
      return 'failed; the last good state stays';
  }
}
