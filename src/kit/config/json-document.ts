import { z } from 'zod';
import { UsageError } from '../errors/errors.ts';
import { jsonMistake } from '../text/json-mistake.ts';
import { jsonPlaces, linePlace, linesOfValues, repeatedKeyAt } from '../text/json-places.ts';
import { describeIssue } from './describe-issue.ts';

/**
 * Reads a JSON text that a person wrote by its schema. Throws `UsageError` naming file, line and key, what is there and
 * what is wanted; it shows no value, which may be a secret. `unchanged` is what the error says of everything else, such
 * as `; nothing was changed`.
 */
export function readDocument<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  file: string,
  unchanged = '',
): z.output<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message quotes the text around the mistake.
    const at = jsonPlaces(text).brokenAt ?? 0;
    const mistake = jsonMistake(text, at);
    throw new UsageError(
      `${file} is not valid JSON in ${placeOf(text, at)}${mistake === undefined ? '' : `: ${mistake}`}${unchanged}`,
    );
  }
  const repeatedAt = repeatedKeyAt(text);
  if (repeatedAt !== undefined)
    throw new UsageError(
      `${file} has a key twice in one object, again in ${placeOf(text, repeatedAt)}: take one of them out${unchanged}`,
    );
  const parsed = schema.safeParse(json, { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw new UsageError(`${file} cannot be used${unchanged}:\n${describePlaces(parsed.error, text)}`);
}

function placeOf(text: string, offset: number): string {
  const { line, column } = linePlace(text, offset);
  return `line ${line}, column ${column}`;
}

/** More would help nobody: a text of a program is wrong in all its places. */
const maxProblems = 20;

/** Describes what is wrong with a JSON text, a line for each problem, with the line that it is in. */
export function describePlaces({ issues }: z.ZodError, text: string): string {
  const lineOf = linesOfValues(text);
  const problems = issues
    .slice(0, maxProblems)
    .map(({ path, message }) => `  line ${lineOf(path)}: ${named(path)}${message}`);
  if (issues.length > maxProblems) problems.push(`  and ${issues.length - maxProblems} more`);
  return problems.join('\n');
}

/** Describes what is wrong with a value that is in no file, a line for each problem. */
export function describeProblems(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `  ${named(path)}${message}`).join('\n');
}

function named(path: readonly PropertyKey[]): string {
  return path.length === 0 ? '' : `${z.core.toDotPath(path)} `;
}
