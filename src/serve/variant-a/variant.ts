import { z } from 'zod';
import type { ApiErrorKind } from '../../kit/http/errors.ts';
import type { Variant } from '../http/variant.ts';

/** Status and title by reason. The titles of 401, 404 (of a click), 422 and 429 are the promised ones. */
const titles: Record<ApiErrorKind, [status: number, title: string]> = {
  missing_credentials: [422, 'Invalid input'],
  unknown_credentials: [401, 'Unauthorized'],
  site_pending: [401, 'Unauthorized'],
  rate_limited: [429, 'Rate limited'],
  wrong_type: [422, 'Invalid input'],
  wrong_date: [422, 'Invalid input'],
  wrong_parameter: [422, 'Invalid input'],
  nothing_found: [404, 'Not found'],
  unreadable_request: [400, 'Bad request'],
  unknown_path: [404, 'Not found'],
  address_too_long: [414, 'URI too long'],
  unmet_expectation: [417, 'Expectation failed'],
  wrong_method: [405, 'Method not allowed'],
  unavailable: [503, 'Service unavailable'],
  internal: [500, 'Internal error'],
};

export const variantA: Variant = {
  letter: 'A',
  headers: {},
  showsLimits: false,
  errorBody: z.strictObject({ title: z.string(), status: z.int(), detail: z.string() }).meta({ id: 'ErrorA' }),
  describe({ kind, message }) {
    const [status, title] = titles[kind];
    return { status, document: { title, status, detail: message } };
  },
};
