import { z } from 'zod';
import type { ApiErrorKind } from '../../kit/http/errors.ts';
import type { Variant } from '../http/variant.ts';

/**
 * Status and code by reason. Up to `wrong_type` the codes are the promised ones; the others fill what the interface
 * leaves open.
 */
const codes: Record<ApiErrorKind, [status: number, code: string]> = {
  missing_credentials: [400, 'missing_fields'],
  unknown_credentials: [401, 'authentication_failed'],
  site_pending: [202, 'pending_site'],
  rate_limited: [429, 'too_many_requests'],
  wrong_type: [401, 'invalid_type'],
  wrong_date: [400, 'invalid_parameter'],
  wrong_parameter: [400, 'invalid_parameter'],
  nothing_found: [404, 'not_found'],
  unreadable_request: [400, 'bad_request'],
  unknown_path: [404, 'not_found'],
  address_too_long: [414, 'uri_too_long'],
  unmet_expectation: [417, 'expectation_failed'],
  wrong_method: [405, 'method_not_allowed'],
  unavailable: [503, 'service_unavailable'],
  internal: [500, 'internal_error'],
};

export const variantB: Variant = {
  letter: 'B',
  headers: {},
  showsLimits: false,
  errorBody: z.strictObject({ error: z.string(), message: z.string() }).meta({ id: 'ErrorB' }),
  describe({ kind, message }) {
    const [status, error] = codes[kind];
    return { status, document: { error, message } };
  },
};
