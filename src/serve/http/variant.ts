import type { ApiError } from '../../kit/http/errors.ts';

/** What sets the responses of one variant of the interface apart, whatever the endpoint. */
export interface Variant {
  readonly letter: 'A' | 'B' | 'C';
  /** Headers of every response of the variant, errors included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether responses to a site say what is left of its limit, and not only the errors. */
  readonly showsLimits: boolean;
  /** An error as the variant tells it. */
  describe(error: ApiError): { status: number; document: object };
}
