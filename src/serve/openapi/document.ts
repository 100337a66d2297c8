import { z } from 'zod';
import { Refusal } from '../refusal.ts';
import type { RefusalKind } from '../refusal.ts';
import type { Variant } from '../variant.ts';
import { errors } from './bodies.ts';
import { operations } from './operations.ts';
import type { Operation } from './operations.ts';

/** A message for each reason, as an example. */
const messages: Record<RefusalKind, string> = {
  missing_credentials: 'site_secret is missing',
  unknown_credentials: 'no site has this site_key and site_secret',
  site_pending: 'this site is not approved yet; its feed opens with the approval',
  rate_limited: 'this site has used up its 10 requests; Retry-After says in how many seconds there is room for the next',
  wrong_type: 'type must be offer or multireward',
  wrong_date: 'updated_since must be an ISO 8601 date or date-time such as 2026-11-20T08:00:00Z',
  wrong_parameter: 'a parameter is missing, repeated, malformed or out of range; the message names it',
  nothing_found: 'this site has no click with this click_id',
  unreadable_request: 'this is not a request that can be read',
  unknown_path: 'there is nothing at this address',
  address_too_long: 'addresses have at most 8192 characters',
  wrong_method: 'use GET or HEAD',
  unavailable: 'nothing is published yet; try again in some minutes',
  internal: 'something went wrong on our side; try again later',
};

const header = (description: string) => ({ description, schema: { type: 'string' } });
const sharedHeaders = {
  'X-Snapshot-Id': header('The published snapshot that the answer was made from'),
  'X-Data-As-Of': header('The moment that its figures are of'),
};
const pageHeaders = { ...sharedHeaders, ETag: header('For If-None-Match'), 'Cache-Control': header('How long the answer may be kept') };
const limitHeaders = {
  'X-RateLimit-Limit': header('Most requests within the window'),
  'X-RateLimit-Remaining': header('Requests left in the current window'),
  'X-RateLimit-Reset': header('Epoch seconds when the oldest counted request leaves the window'),
};

/** The OpenAPI 3.1 document of the publishers' interface. */
export function openApiDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Publisher offers interface',
      version: '1.0',
      description: 'Offers for publisher sites in three variants, each under a base address of its own. The bare host answers the same paths without it; /api/v1/offers there in the variant of the identified site.',
    },
    paths: Object.fromEntries(operations.map((operation) => [operation.path, { get: describe(operation) }])),
    components: {
      schemas: Object.fromEntries(Object.entries(errors).map(([letter, schema]) => [`Error${letter}`, schemaOf(schema)])),
      // What is answered beside the operations.
      responses: Object.fromEntries(
        [...new Set(operations.map(({ variant }) => variant))].flatMap((variant) => [
          [`UnknownPath${variant.letter}`, errorResponse(variant, ['unknown_path'])],
          [`WrongMethod${variant.letter}`, errorResponse(variant, ['wrong_method'])],
        ]),
      ),
    },
  };
}

function describe({ path, variant, summary, parameters, body, refusals }: Operation): object {
  return {
    operationId: path.slice(1).replaceAll(/[^a-z\d]+/g, '-'),
    tags: [`Variant ${variant.letter}`],
    summary,
    parameters: parameters.map(({ required = false, ...parameter }) => ({ in: 'query', required, ...parameter })),
    responses: {
      200: {
        description: 'What was asked for',
        headers: variant.showsLimits ? { ...pageHeaders, ...limitHeaders } : pageHeaders,
        content: { 'application/json': { schema: schemaOf(body) } },
      },
      304: { description: 'What If-None-Match names is still the answer', headers: pageHeaders },
      ...Object.fromEntries(Map.groupBy(refusals, (kind) => statusOf(variant, kind)).entries().map(([status, kinds]) => [status, errorResponse(variant, kinds)])),
    },
  };
}

/** All reasons for one status, with an example each. */
function errorResponse(variant: Variant, kinds: readonly RefusalKind[]): object {
  const limited = kinds.includes('rate_limited') ? { ...limitHeaders, 'Retry-After': header('Seconds until the next request has room') } : {};
  return {
    description: kinds.map((kind) => kind.replaceAll('_', ' ')).join(', '),
    headers: { ...sharedHeaders, ...limited },
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/Error${variant.letter}` },
        examples: Object.fromEntries(kinds.map((kind) => [kind, { value: variant.refuse(new Refusal(kind, messages[kind])).document }])),
      },
    },
  };
}

function statusOf(variant: Variant, kind: RefusalKind): number {
  return variant.refuse(new Refusal(kind, '')).status;
}

function schemaOf(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema);
  return rest;
}
