import { UsageError } from '../../kit/errors/errors.ts';
import { macrosIn, unfilledMacro } from '../../kit/text/macros.ts';
import type { Stream } from '../connectors/declaration.ts';
import type { HttpRequest } from './exchange.ts';

/** Values of the placeholders in a declaration's texts, by name. */
export type TemplateValues = Readonly<Record<string, string>>;

/**
 * Builds the request that a declaration describes. Throws `UsageError` for a placeholder without a value, and for an
 * address of another host.
 */
export function fillRequest(stream: Stream, baseUrl: string, values: TemplateValues): HttpRequest {
  const fill = (text: string) => fillTemplate(text, values);
  // The first page has no cursor, and many networks refuse an empty one.
  const isAbsent = (text: string) => text === '{cursor}' && values['cursor'] === '';
  const base = new URL(baseUrl);
  const url = new URL(base.href.replace(/\/$/, '') + fillTemplate(stream.path, values, encodeURIComponent));
  if (url.host !== base.host) throw new UsageError(`${stream.path} leads to another host than ${base.host}`);
  for (const [name, texts] of Object.entries(stream.query))
    for (const text of [texts].flat()) if (!isAbsent(text)) url.searchParams.append(name, fill(text));
  const headers = Object.fromEntries(
    Object.entries(stream.headers).flatMap(([name, text]) =>
      isAbsent(text) ? [] : [[name.toLowerCase(), fill(text)]],
    ),
  );
  if (stream.body === undefined) return { method: stream.method, url, headers };
  const body = JSON.stringify(stream.body, (_key, value: unknown) => {
    if (typeof value !== 'string') return value;
    return isAbsent(value) ? undefined : fill(value);
  });
  return { method: stream.method, url, headers: { 'content-type': 'application/json', ...headers }, body };
}

/**
 * Replaces placeholders by their values. Throws `UsageError` for one without a value, and for a name in the form of
 * another system, such as `{{name}}`.
 */
export function fillTemplate(
  text: string,
  values: TemplateValues,
  encode: (value: string) => string = (value) => value,
): string {
  const foreign = [unfilledMacro(text), ...macrosIn(text)].find(
    (macro) => macro !== undefined && Object.hasOwn(values, macro.name) && macro.written !== `{${macro.name}}`,
  );
  if (foreign !== undefined) throw new UsageError(`"${text}" has ${foreign.written}: write {${foreign.name}}`);
  return text.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined)
      throw new UsageError(`"${text}" has the unknown placeholder {${name}}; use a secret's name, or ${knownNames}`);
    return encode(value);
  });
}

const knownNames = 'page, size, cursor, token, from or to';
