import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { pictureTypes } from '../../../pictures/picture-type.ts';
import { ApiError } from '../../../kit/http/errors.ts';
import type { ApiErrorKind } from '../../../kit/http/errors.ts';
import { bySecret } from '../../endpoints/operation.ts';
import type { Operation } from '../../endpoints/operation.ts';
import { cacheControl } from '../../http/caching.ts';
import type { Variant } from '../../http/variant.ts';
import { variantC } from '../../variant-c/variant.ts';

const bodyTypes = ['application/x-www-form-urlencoded', 'application/json'];

/** Fastify's schema of a route: what it validates, and what the OpenAPI document has of it. */
export function operationSchema(operation: Operation, isDescribed: boolean): FastifySchema {
  const { operationId, summary, variant, identify, querystring, params, body, errorKinds } = operation;
  const { method, status = 200 } = operation;
  return {
    hide: !isDescribed,
    operationId,
    summary,
    tags: [variantTag(variant)],
    // Credentials of a POST are among the parameters of its body.
    security: method === 'POST' ? [] : [identify === bySecret ? { siteKey: [], siteSecret: [] } : { siteKey: [] }],
    ...(method === 'POST' ? { body: querystring, consumes: bodyTypes } : { querystring }),
    ...(params !== undefined && { params }),
    response: {
      [status]: body,
      ...(isKept(operation) && { 304: z.null() }),
      ...Object.fromEntries([...errorsByStatus(variant, errorKinds).keys()].map((each) => [each, variant.errorBody])),
    },
  };
}

/** The same for pictures, which all variants share; errors on the bare host are those of Variant C. */
export function pictureSchema(isDescribed: boolean): FastifySchema {
  const picture = z.file();
  return {
    hide: !isDescribed,
    operationId: 'getPicture',
    summary: 'An offer’s picture, under each base address; without credentials',
    tags: ['Pictures'],
    security: [],
    params: z.object({ name: z.string().describe('As the offer names its picture') }),
    response: {
      200: {
        content: Object.fromEntries(Object.values(pictureTypes).map((type) => [type, { schema: picture }])),
      },
      302: z.strictObject({ location: z.string() }).meta({ id: 'PictureElsewhere' }),
      304: z.null(),
      404: variantC.errorBody,
      503: variantC.errorBody,
    },
  };
}

export function variantTag({ letter }: Variant): string {
  return `Variant ${letter}`;
}

/** Returns whether clients may keep the answer, which then has an ETag. */
export function isKept({ cacheControl: keeping }: Operation): boolean {
  return keeping !== cacheControl.noStore;
}

export function errorsByStatus(variant: Variant, kinds: readonly ApiErrorKind[]): Map<number, ApiErrorKind[]> {
  return Map.groupBy(kinds, (kind) => variant.describe(new ApiError(kind, '')).status);
}
