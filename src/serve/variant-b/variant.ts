import type { RefusalKind } from '../refusal.ts';
import type { Variant } from '../variant.ts';

/** Status and code by reason. Up to `wrong_type` the codes are the promised ones; the others fill what the interface leaves open. */
const codes: Record<RefusalKind, [status: number, code: string]> = {
  missing_credentials: [400, 'missing_fields'],
  unknown_credentials: [401, 'authentication_failed'],
  site_pending: [202, 'pending_site'],
  wrong_type: [401, 'invalid_type'],
  wrong_date: [400, 'invalid_parameter'],
  wrong_parameter: [400, 'invalid_parameter'],
  unreadable_request: [400, 'bad_request'],
  unknown_path: [404, 'not_found'],
  wrong_method: [405, 'method_not_allowed'],
  no_snapshot: [503, 'service_unavailable'],
  internal: [500, 'internal_error'],
};

export const variantB: Variant = {
  letter: 'B',
  headers: {},
  refuse({ kind, message }) {
    const [status, error] = codes[kind];
    return { status, document: { error, message } };
  },
};
