import { z } from 'zod';
import { conversionKinds } from '../../../kit/vocabulary/values.ts';

/** The signed fields of a postback; a site may have asked for further ones. */
const postbackBody = z.looseObject({
  event: z.enum(conversionKinds),
  site_key: z.string(),
  user_id: z.string(),
  click_id: z.string(),
  reward: z.number().min(0).describe('In the site’s points: the amount credited, refused or taken back, or announced'),
  signature: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('HMAC-SHA256 over the other five fields, keyed by site_secret'),
});

const headerParameters = [
  { name: 'webhook-id', description: 'The same on every retry' },
  { name: 'webhook-timestamp', description: 'When this attempt was signed, epoch seconds' },
  { name: 'webhook-signature', description: 'Signatures of Standard Webhooks, keyed by the bytes of site_secret' },
].map(({ name, description }) => ({ in: 'header', name, description, required: true, schema: { type: 'string' } }));

const responses = {
  '2XX': { description: 'Delivered; the body does not matter' },
  410: { description: 'Given up at once; nothing more is tried' },
  default: { description: 'Tried again later, ten times over some three days at most' },
};

const { $schema: _dialect, ...bodySchema } = z.toJSONSchema(postbackBody);
const fields = bodySchema.properties as Record<string, { description?: string }>;

/** The request that a site's postback address gets for each credit, reject or chargeback, or announcement. */
export const postbackWebhook = {
  post: {
    operationId: 'receivePostback',
    tags: ['Postbacks'],
    summary: 'A reward was credited, refused or taken back, or announced; for sites with the method POST',
    security: [],
    parameters: headerParameters,
    requestBody: { required: true, content: { 'application/json': { schema: bodySchema } } },
    responses,
  },
  get: {
    operationId: 'receivePostbackByQuery',
    tags: ['Postbacks'],
    summary: 'The same for sites with the method GET; fields that the address names as macros are not appended',
    security: [],
    parameters: [
      ...headerParameters,
      ...Object.entries(fields).map(([name, { description, ...schema }]) => ({
        in: 'query',
        name,
        description,
        required: false,
        schema,
      })),
    ],
    responses,
  },
};
