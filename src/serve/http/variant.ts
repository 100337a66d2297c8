import type { z } from 'zod';
import type { ApiError } from '../../kit/http/errors.ts';

/** Traits of all responses of one variant of the interface. */
export interface Variant {
  readonly letter: 'A' | 'B' | 'C';
  /** Headers of every response of the variant, errors included. */
  readonly headers: Readonly<Record<string, string>>;
  /** Successful responses to a site report what is left of its limit, too, and not only the errors. */
  readonly showsLimits: boolean;
  /** Schema of the document that `describe` gives. */
  readonly errorBody: z.ZodType;
  /** An error in the variant's own form. */
  describe(error: ApiError): { status: number; document: object };
}
