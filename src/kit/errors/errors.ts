/** Exit codes of the process. */
export const exitCode = { done: 0, failed: 1, usage: 2, busy: 3, audit: 4 } as const;
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** An error with a message for the person who ran the command, which states what to do next. */
export class OfferlineError extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, code: ExitCode = exitCode.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.exitCode = code;
  }
}

/** Wrong usage of a command, or an unusable configuration. */
export class UsageError extends OfferlineError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, exitCode.usage, options);
  }
}

/** Another process holds the warehouse and did not let go in time. */
export class WarehouseBusyError extends OfferlineError {
  constructor(message: string) {
    super(message, exitCode.busy);
  }
}

/** The process was asked to end, and ended between two steps of its work. */
export class StoppedError extends OfferlineError {}

/** Throws `StoppedError` with the message after the signal was aborted. */
export function assertNotStopped(stop: AbortSignal | undefined, message: string): void {
  if (stop?.aborted === true) throw new StoppedError(message);
}

/** Bad rows of one audit: a model's grain or a law of the figures does not hold. */
export interface AuditFailure {
  audit: string;
  badRows: number;
  sample: Record<string, unknown>[];
}

/** An audit found bad rows, so nothing was published. */
export class AuditError extends OfferlineError {
  readonly failures: AuditFailure[];
  constructor(failures: AuditFailure[]) {
    const lines = failures.map(
      ({ audit, badRows, sample }) => `  ${audit}: ${badRows} bad rows, the first: ${JSON.stringify(sample[0])}`,
    );
    super(`Nothing was published, the last good snapshot stays. Failed audits:\n${lines.join('\n')}`, exitCode.audit);
    this.failures = failures;
  }
}
