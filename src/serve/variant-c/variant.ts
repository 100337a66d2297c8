import type { RefusalKind } from '../refusal.ts';
import type { Variant } from '../variant.ts';

/** Status and code by reason. Up to `wrong_date` the codes are the promised ones; the others fill what the interface leaves open. */
const codes: Record<RefusalKind, [status: number, code: string]> = {
  missing_credentials: [400, 'MISSING_CREDENTIALS'],
  unknown_credentials: [401, 'INVALID_CREDENTIALS'],
  site_pending: [403, 'SITE_PENDING'],
  wrong_type: [422, 'INVALID_TYPE'],
  wrong_date: [422, 'INVALID_DATE'],
  wrong_parameter: [422, 'INVALID_PARAMETER'],
  unreadable_request: [400, 'BAD_REQUEST'],
  unknown_path: [404, 'NOT_FOUND'],
  wrong_method: [405, 'METHOD_NOT_ALLOWED'],
  no_snapshot: [503, 'SERVICE_UNAVAILABLE'],
  internal: [500, 'INTERNAL_ERROR'],
};

export const variantC: Variant = {
  letter: 'C',
  headers: { 'x-api-version': '1.0' },
  refuse({ kind, message }) {
    const [status, code] = codes[kind];
    return { status, document: { success: false, error: { code, message } } };
  },
};
