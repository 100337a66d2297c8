/** Reasons why a request gets no regular answer. Each variant has its own status and code for each. */
export type ApiErrorKind =
  | 'missing_credentials'
  | 'unknown_credentials'
  | 'site_pending'
  | 'rate_limited'
  | 'wrong_type'
  | 'wrong_date'
  | 'wrong_parameter'
  | 'nothing_found'
  | 'unreadable_request'
  | 'unknown_path'
  | 'address_too_long'
  | 'unmet_expectation'
  | 'wrong_method'
  | 'unavailable'
  | 'internal';

/** Ends the work on a request; the message is for the publisher, and never holds a secret. */
export class ApiError extends Error {
  readonly kind: ApiErrorKind;
  constructor(kind: ApiErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiError';
    this.kind = kind;
  }
}
