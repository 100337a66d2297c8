import { z } from 'zod';
import { nearestWord } from '../text/nearest-word.ts';

/** An object with these keys only. An unknown key is not named: it may be a secret in the wrong place. */
export function objectOf<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      const meant = new Set(issue.keys.map((key) => nearestWord(key, known)).filter((key) => key !== undefined));
      const hint = meant.size === 0 ? '' : `; did you mean ${[...meant].join(', ')}?`;
      return `has a key that is none of ${known.join(', ')}${hint}`;
    },
  });
}

/** An object with these keys, of which exactly one of some is there: all of them, unless `alternatives` says which. */
export function objectOfOne<Shape extends z.ZodRawShape>(shape: Shape, alternatives = Object.keys(shape)) {
  return objectOf(shape).refine((given) => alternatives.filter((key) => key in given).length === 1, {
    error: `has to have exactly one of ${alternatives.join(', ')}: write an entry for each`,
  });
}
