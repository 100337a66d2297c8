import { z } from 'zod';
import { cacheControl } from '../../http/caching.ts';
import type { DescribedParameter } from '../../../kit/http/query.ts';
import { ApiError } from '../../../kit/http/errors.ts';
import type { ApiErrorKind } from '../../../kit/http/errors.ts';
import type { Variant } from '../../http/variant.ts';
import { errors } from './bodies.ts';
import {
  headersOf,
  ifNoneMatch,
  ofCompressed,
  ofLimited,
  ofLimits,
  ofOverload,
  ofPage,
  ofSnapshot,
  ofWrongMethod,
  optional,
} from './headers.ts';
import { picturePath } from './picture-path.ts';
import { variantC } from '../../variant-c/variant.ts';
import { operations } from '../operations.ts';
import type { Operation } from '../operations.ts';

/** A message for each reason, as an example. */
const messages: Record<ApiErrorKind, string> = {
  missing_credentials: 'site_secret is missing',
  unknown_credentials: 'no site has this site_key and site_secret',
  site_pending: 'this site is not approved yet; its feed opens with the approval',
  rate_limited:
    'this site has used up its 10 requests; Retry-After says in how many seconds there is room for the next',
  wrong_type: 'type must be offer or multireward',
  wrong_date: 'updated_since must be an ISO 8601 date or date-time such as 2026-11-20T08:00:00Z',
  wrong_parameter: 'a parameter is missing, repeated, malformed or out of range; the message names it',
  nothing_found: 'this site has no click with this click_id',
  unreadable_request: 'this is not a request that can be read',
  unknown_path: 'there is nothing at this address',
  address_too_long: 'addresses have at most 8192 characters',
  unmet_expectation: 'nothing but 100-continue can be expected',
  wrong_method: 'use GET or HEAD',
  unavailable: 'nothing is published yet; try again in some minutes',
  internal: 'something went wrong on our side; try again later',
};

/** Reasons that are only told to a site that is identified. */
const toldToSites = new Set<ApiErrorKind>([
  'site_pending',
  'rate_limited',
  'wrong_type',
  'wrong_date',
  'wrong_parameter',
  'nothing_found',
  'unavailable',
]);

/** The OpenAPI 3.1 document of the publishers' interface. */
export function openApiDocument(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Publisher offers interface',
      version: '1.0',
      description: [
        'Offers for publisher sites in three variants, each under a base address of its own.',
        'The bare host answers the same paths without it; /api/v1/offers there in the variant of the identified site.',
        'What cannot be read as a request is refused in the form of Variant C, or of B where that is the default.',
      ].join(' '),
    },
    paths: {
      ...Object.fromEntries(operations.map((operation) => [operation.path, { get: describe(operation) }])),
      ...picturePath(errorResponse(variantC, ['nothing_found']), errorResponse(variantC, ['unavailable'])),
    },
    components: {
      schemas: Object.fromEntries(
        Object.entries(errors).map(([letter, schema]) => [`Error${letter}`, schemaOf(schema)]),
      ),
      // What is answered beside the operations.
      responses: Object.fromEntries(
        [...new Set(operations.map(({ endpoint }) => endpoint.variant))].flatMap((variant) => [
          [`UnknownPath${variant.letter}`, errorResponse(variant, ['unknown_path'])],
          [`WrongMethod${variant.letter}`, errorResponse(variant, ['wrong_method'])],
        ]),
      ),
    },
  };
}

function describe(operation: Operation): object {
  const { path, endpoint, summary, parameters, body, cacheControl: keeping, errorKinds } = operation;
  const { variant } = endpoint;
  const isPage = keeping !== cacheControl.noStore;
  const headers = {
    ...headersOf(variant, keeping),
    ...ofSnapshot,
    ...(isPage && ofPage),
    ...(variant.showsLimits && ofLimits),
  };
  return {
    operationId: path.slice(1).replaceAll(/[^a-z\d]+/g, '-'),
    tags: [`Variant ${variant.letter}`],
    summary,
    parameters: [...parameters.map(describeParameter), ...(isPage ? [ifNoneMatch] : [])],
    responses: {
      200: {
        description: 'What was asked for',
        headers: { ...headers, ...(isPage && optional(ofCompressed)) },
        content: { 'application/json': { schema: schemaOf(body) } },
      },
      ...(isPage && { 304: { description: 'What If-None-Match names is still the answer', headers } }),
      ...Object.fromEntries(
        Map.groupBy(errorKinds, (kind) => statusOf(variant, kind))
          .entries()
          .map(([status, kinds]) => [status, errorResponse(variant, kinds)]),
      ),
    },
  };
}

/** An empty one is absent, whatever its schema says of a value. */
function describeParameter({ name, description, required, schema }: DescribedParameter): object {
  return { in: 'query', name, description, required, ...(!required && { allowEmptyValue: true }), schema };
}

/** All reasons for one status, with an example each. */
function errorResponse(variant: Variant, kinds: readonly ApiErrorKind[]): object {
  const headers = {
    ...headersOf(variant, cacheControl.noStore),
    // Nothing may be published yet.
    ...optional(ofSnapshot),
    ...(variant.showsLimits && kinds.some((kind) => toldToSites.has(kind)) && optional(ofLimits)),
    // The limit of failed identifications is not a site's.
    ...(kinds.includes('rate_limited') && { ...optional(ofLimits), ...ofLimited }),
    // Where nothing is published yet, nobody knows when to come back.
    ...(kinds.includes('unavailable') && optional(ofOverload)),
    ...(kinds.includes('wrong_method') && ofWrongMethod),
  };
  return {
    description: kinds.map((kind) => kind.replaceAll('_', ' ')).join(', '),
    headers,
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/Error${variant.letter}` },
        examples: Object.fromEntries(
          kinds.map((kind) => [kind, { value: variant.describe(new ApiError(kind, messages[kind])).document }]),
        ),
      },
    },
  };
}

function statusOf(variant: Variant, kind: ApiErrorKind): number {
  return variant.describe(new ApiError(kind, '')).status;
}

function schemaOf(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema);
  return rest;
}
