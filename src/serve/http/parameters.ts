import { z } from 'zod';
import { ApiError } from '../../kit/http/errors.ts';
import type { ApiErrorKind } from '../../kit/http/errors.ts';
import { repeated, undecodable } from '../../kit/http/query.ts';
import type { Query } from '../../kit/http/query.ts';

/** The largest integer that any parameter may be. */
const maxInteger = 2 ** 31 - 1;

/** Schema options: the mistake as publishers read it, by the parameter's rule unless its value cannot be known. */
function saying(name: string, rule: string) {
  return {
    error({ input }: { input?: unknown }) {
      if (input === repeated) return `${name} is given more than once; send it once`;
      return input === undecodable ? `${name} is not percent-encoded UTF-8` : rule;
    },
  };
}

/** Text of any kind. */
export function text(name: string, description: string) {
  return z
    .string(saying(name, `${name} is any text`))
    .min(1)
    .describe(description);
}

/** A text in the form of a regular expression, as JSON Schema has them. */
export function pattern(name: string, description: string, form: string, rule: string) {
  const mistake = saying(name, rule);
  return z.string(mistake).regex(new RegExp(form, 'u'), mistake).describe(description);
}

/**
 * Plain digits within bounds; may be absent. `otherwise`: documented as its default, which the
 * reader puts in place.
 */
export function integer(
  name: string,
  description: string,
  otherwise: number | undefined,
  from: number,
  to = maxInteger,
) {
  const mistake = saying(name, `${name} must be an integer from ${from} to ${to}, written in plain digits`);
  // The document has what is said of the inner schema only.
  const digits = z
    .int(mistake)
    .min(from, mistake)
    .max(to, mistake)
    .meta({ description, ...(otherwise !== undefined && { default: otherwise }) });
  return z
    .preprocess((sent) => (typeof sent === 'string' && /^\d+$/.test(sent) ? Number(sent) : sent), digits)
    .optional();
}

/** Word of a list, in exactly that spelling. */
export function choice<const Words extends readonly string[]>(
  name: string,
  description: string,
  words: Words,
  rule = `${name} must be one of ${words.join(', ')}`,
) {
  return z.enum(words, saying(name, rule)).describe(description);
}

/** `offer`: single-reward offers; `multireward`: those with milestones. */
export const offerType = choice(
  'type',
  'Single-reward or multireward offers',
  ['offer', 'multireward'],
  'type must be offer or multireward',
);
export type OfferType = z.output<typeof offerType>;

export const siteKey = text('site_key', 'Public identifier of the site');
export const siteSecret = text('site_secret', 'Private value of the site');

/** The whole query of an operation that has no other parameters. */
export const credentials = z.object({ site_key: siteKey, site_secret: siteSecret }).transform(() => ({}));

/** Parameters whose mistakes have error codes of their own. */
const kinds: Readonly<Record<string, ApiErrorKind>> = {
  type: 'wrong_type',
  ...Object.fromEntries(['updated_since', 'changed_since', 'from', 'to'].map((name) => [name, 'wrong_date' as const])),
};

/** The mistake that validation found in a parameter of a query. */
export function parameterError(query: Query, name: string, message: string): ApiError {
  return new ApiError((typeof query[name] === 'string' ? kinds[name] : undefined) ?? 'wrong_parameter', message);
}
