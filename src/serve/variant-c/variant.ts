import { z } from 'zod';
import type { ApiErrorKind } from '../../kit/http/errors.ts';
import type { Variant } from '../http/variant.ts';

/**
 * Status and code by reason. Up to `wrong_date` the codes are the promised ones; the others fill what the interface
 * leaves open.
 */
const codes: Record<ApiErrorKind, [status: number, code: string]> = {
  missing_credentials: [400, 'MISSING_CREDENTIALS'],
  unknown_credentials: [401, 'INVALID_CREDENTIALS'],
  site_pending: [403, 'SITE_PENDING'],
  rate_limited: [429, 'RATE_LIMIT_EXCEEDED'],
  wrong_type: [422, 'INVALID_TYPE'],
  wrong_date: [422, 'INVALID_DATE'],
  wrong_parameter: [422, 'INVALID_PARAMETER'],
  nothing_found: [404, 'NOT_FOUND'],
  unreadable_request: [400, 'BAD_REQUEST'],
  unknown_path: [404, 'NOT_FOUND'],
  address_too_long: [414, 'URI_TOO_LONG'],
  unmet_expectation: [417, 'EXPECTATION_FAILED'],
  wrong_method: [405, 'METHOD_NOT_ALLOWED'],
  unavailable: [503, 'SERVICE_UNAVAILABLE'],
  internal: [500, 'INTERNAL_ERROR'],
};

export const variantC: Variant = {
  letter: 'C',
  headers: { 'x-api-version': '1.0' },
  showsLimits: true,
  errorBody: z
    .strictObject({ success: z.literal(false), error: z.strictObject({ code: z.string(), message: z.string() }) })
    .meta({ id: 'ErrorC' }),
  describe({ kind, message }) {
    const [status, code] = codes[kind];
    return { status, document: { success: false, error: { code, message } } };
  },
};
