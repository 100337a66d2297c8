import { pictureTypes } from '../../../pictures/picture-type.ts';
import { cacheControl } from '../../http/caching.ts';
import { pictureFolder, pictureSecurityPolicy } from '../pictures.ts';
import { header, ifNoneMatch, ofEveryAnswer, ofPage, ofSnapshot, type Headers } from './headers.ts';

const keeping = (value: string): Headers => ({
  'Cache-Control': header('Who may keep the answer, and for how many seconds', { const: value }),
});

const ofMirrored: Headers = {
  ...ofEveryAnswer,
  ...keeping(cacheControl.versioned),
  ...ofPage,
  'X-Content-Type-Options': header('That the bytes are of this type and no other', { const: 'nosniff' }),
  'Content-Security-Policy': header('That a page of the picture runs nothing', { const: pictureSecurityPolicy }),
};

const binary = { schema: { type: 'string', contentMediaType: 'image/*' } };

/** The path of pictures, which is the same for all variants; errors on the bare host are those of Variant C. */
export function picturePath(notFound: object, unavailable: object): Record<string, object> {
  return {
    [`${pictureFolder}{name}`]: {
      get: {
        operationId: 'picture',
        tags: ['Pictures'],
        summary: 'An offer’s picture, under each base address; without credentials',
        parameters: [
          {
            in: 'path',
            name: 'name',
            description: 'As the offer names its picture',
            required: true,
            schema: { type: 'string' },
          },
          ifNoneMatch,
        ],
        responses: {
          200: {
            description: 'The mirrored picture',
            headers: ofMirrored,
            content: Object.fromEntries(Object.values(pictureTypes).map((type) => [type, binary])),
          },
          302: {
            description: 'Not mirrored: where the advertiser has it',
            headers: {
              ...ofEveryAnswer,
              ...keeping(cacheControl.page),
              ...ofPage,
              ...ofSnapshot,
              Location: header('The advertiser’s address', { format: 'uri' }),
              'X-Api-Version': {
                ...header('Version of the interface, under a base address that has one'),
                required: false,
              },
            },
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { location: { type: 'string' } },
                  required: ['location'],
                  additionalProperties: false,
                },
              },
            },
          },
          304: { description: 'What If-None-Match names is still the mirrored picture', headers: ofMirrored },
          404: notFound,
          503: unavailable,
        },
      },
    },
  };
}
