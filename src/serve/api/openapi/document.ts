import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { ApiError } from '../../../kit/http/errors.ts';
import type { ApiErrorKind } from '../../../kit/http/errors.ts';
import type { Operation } from '../../endpoints/operation.ts';
import { variantA } from '../../variant-a/variant.ts';
import { variantB } from '../../variant-b/variant.ts';
import { variantC } from '../../variant-c/variant.ts';
import type { Variant } from '../../http/variant.ts';
import { operations } from '../operations.ts';
import { pictureFolder } from '../pictures.ts';
import {
  answerHeaders,
  errorHeaders,
  headerTable,
  ifNoneMatch,
  movedPictureHeaders,
  pictureHeaders,
} from './headers.ts';
import { postbackWebhook } from './postback-webhook.ts';
import { errorsByStatus, isKept, variantTag } from './route-schema.ts';

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

const variants = [variantA, variantB, variantC];

/** Has @fastify/swagger collect the routes that follow; `server.swagger()` is then the OpenAPI 3.1 document. */
export async function describeInterface(server: FastifyInstance, publicUrl: string | undefined): Promise<void> {
  await server.register(swagger, {
    convertConstToEnum: false,
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Publisher offers interface',
        version: '1.0',
        description: [
          'Offers for publisher sites in three variants, each under a base address of its own.',
          'The bare host answers the same paths without it; /api/v1/offers there in the variant of the identified site.',
          'What cannot be read as a request is refused in the form of Variant C, or of B where that is the default.',
        ]
          .join(' ')
          .concat(`\n\n${headerTable()}`),
        license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      },
      servers: [{ url: publicUrl ?? '/' }],
      tags: [
        {
          name: variantTag(variantA),
          description: 'Offers with links that carry the user; opened by the site’s key alone',
        },
        { name: variantTag(variantB), description: 'The whole list, and the offers that convert best' },
        { name: variantTag(variantC), description: 'The list by filters and pages, its changes, and reports' },
        { name: 'Pictures', description: 'Pictures of offers, without credentials' },
        {
          name: 'Postbacks',
          description: 'Requests that a site gets when a reward is credited, refused or taken back',
        },
      ],
      components: {
        securitySchemes: {
          siteKey: { type: 'apiKey', in: 'query', name: 'site_key', description: 'Public identifier of the site' },
          siteSecret: { type: 'apiKey', in: 'query', name: 'site_secret', description: 'Private value of the site' },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (collected) => complete(jsonSchemaTransformObject(collected) as unknown as CollectedDocument),
  });
}

/** The parts of the document that are added to, as `@fastify/swagger` collects them. */
interface CollectedDocument {
  paths: Record<string, Partial<Record<'get' | 'post', CollectedOperation>>>;
  components: { schemas: Record<string, object>; responses?: object };
  webhooks?: object;
}
interface CollectedOperation {
  parameters?: { required?: boolean; allowEmptyValue?: boolean }[];
  responses: Record<string, object>;
}

/** Adds parts that no schema of a route has: headers, examples of errors, empty parameters, postbacks. */
function complete(document: CollectedDocument): object {
  for (const operation of operations) {
    const described = document.paths[documentedPath(operation)]?.[operation.method === 'POST' ? 'post' : 'get'];
    if (described === undefined) throw new Error(`${operation.operationId} is not in the document`);
    for (const parameter of described.parameters ?? [])
      if (parameter.required !== true) parameter.allowEmptyValue = true;
    if (isKept(operation)) (described.parameters ??= []).push(ifNoneMatch);
    describeAnswers(operation, described.responses);
  }
  const pictures = document.paths[`${pictureFolder}{name}`]?.get;
  if (pictures !== undefined) describePictures(pictures);
  const { schemas } = document.components;
  // Each named schema is there as that of an input, too, which none of them is.
  for (const name of Object.keys(schemas)) if (name.endsWith('Input')) delete schemas[name];
  document.components.responses = Object.fromEntries(
    variants.flatMap((variant) => [
      [`UnknownPath${variant.letter}`, errorResponse(variant, ['unknown_path'])],
      [`WrongMethod${variant.letter}`, errorResponse(variant, ['wrong_method'])],
    ]),
  );
  document.webhooks = { postback: postbackWebhook };
  return document;
}

/** The path as OpenAPI writes it. */
export function documentedPath({ path }: Operation): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function describeAnswers(operation: Operation, responses: CollectedOperation['responses']): void {
  const { variant, errorKinds } = operation;
  Object.assign(responses[operation.status ?? 200] as object, {
    description: operation.status === undefined ? 'What was asked for' : 'Taken up',
    headers: answerHeaders(operation, { mayBeCompressed: isKept(operation) }),
  });
  if (isKept(operation))
    Object.assign(responses[304] as object, {
      description: 'What If-None-Match names is still the answer',
      headers: answerHeaders(operation, { mayBeCompressed: false }),
    });
  for (const [status, kinds] of errorsByStatus(variant, errorKinds)) responses[status] = errorResponse(variant, kinds);
}

function describePictures({ parameters = [], responses }: CollectedOperation): void {
  parameters.push(ifNoneMatch);
  Object.assign(responses[200] as object, { description: 'The mirrored picture', headers: pictureHeaders });
  Object.assign(responses[302] as object, {
    description: 'Not mirrored: where the advertiser has it',
    headers: movedPictureHeaders,
  });
  Object.assign(responses[304] as object, {
    description: 'What If-None-Match names is still the mirrored picture',
    headers: pictureHeaders,
  });
  responses[404] = errorResponse(variantC, ['nothing_found']);
  responses[503] = errorResponse(variantC, ['unavailable']);
}

/** All reasons for one status, with an example each. */
function errorResponse(variant: Variant, kinds: readonly ApiErrorKind[]): object {
  return {
    description: kinds.map((kind) => kind.replaceAll('_', ' ')).join(', '),
    headers: errorHeaders(variant, kinds),
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
