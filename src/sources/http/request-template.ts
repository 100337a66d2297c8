import { validateHeaderValue } from 'node:http';
import { UsageError } from '../../kit/errors/errors.ts';
import { macrosIn, unfilledMacro } from '../../kit/text/macros.ts';
import type { RequestDeclaration } from '../connectors/declaration.ts';
import type { HttpRequest } from './exchange.ts';

/** Values of the placeholders in a declaration's texts, by name. */
export type TemplateValues = Readonly<Record<string, string>>;

/**
 * Builds the request that a declaration describes. Throws `UsageError` for a placeholder without a value, for an
 * address of another host, and for a header that cannot be sent.
 */
export function fillRequest(declared: RequestDeclaration, baseUrl: string, values: TemplateValues): HttpRequest {
  const { method, path, query, basic } = declared;
  const base = new URL(baseUrl);
  const url = new URL(base.href.replace(/\/$/, '') + fillTemplate(path, values, encodeURIComponent));
  if (url.host !== base.host) throw new UsageError(`${path} leads to another host than ${base.host}`);
  for (const [name, text] of filledTexts(query, values)) url.searchParams.append(name, text);
  const headers: Record<string, string> = {};
  if (basic !== undefined)
    headers['authorization'] = `Basic ${Buffer.from(basicText(basic, values)).toString('base64')}`;
  for (const [name, text] of filledTexts(declared.headers, values)) {
    assertHeader(name, text, declared.headers[name] ?? '');
    headers[name.toLowerCase()] = text;
  }
  const body = filledBody(declared, values);
  if (body === undefined) return { method, url, headers };
  return { method, url, headers: { 'content-type': body.type, ...headers }, body: body.text };
}

/** Throws `UsageError`, which names what fills the header, and no value. */
function assertHeader(name: string, text: string, declared: string): void {
  try {
    validateHeaderValue(name, text);
  } catch (error) {
    const filledBy = Array.from(declared.matchAll(/\{(\w+)\}/g), ([, placeholder]) => placeholder);
    const cure = filledBy.length === 0 ? '' : `: look at ${filledBy.join(', ')}`;
    throw new UsageError(`the header ${name} has a character that none may have${cure}`, { cause: error });
  }
}

/** Returns names and filled texts. The first page has no cursor, and many networks refuse an empty one. */
function filledTexts(texts: RequestDeclaration['query'], values: TemplateValues): [string, string][] {
  return Object.entries(texts).flatMap(([name, one]) =>
    [one]
      .flat()
      .filter((text) => !isAbsent(text, values))
      .map((text): [string, string] => [name, fillTemplate(text, values)]),
  );
}

function isAbsent(text: string, values: TemplateValues): boolean {
  return text === '{cursor}' && values['cursor'] === '';
}

function filledBody(
  { form, body }: RequestDeclaration,
  values: TemplateValues,
): { type: string; text: string } | undefined {
  if (form !== undefined) {
    const text = new URLSearchParams(filledTexts(form, values)).toString();
    return { type: 'application/x-www-form-urlencoded', text };
  }
  if (body === undefined) return undefined;
  const text = JSON.stringify(body, (_key, value: unknown) => {
    if (typeof value !== 'string') return value;
    if (value === '{page}' || value === '{size}') return Number(fillTemplate(value, values));
    return isAbsent(value, values) ? undefined : fillTemplate(value, values);
  });
  return { type: 'application/json', text };
}

/** Returns user and password of HTTP Basic, as RFC 7617 joins them. */
export function basicText([user = '', password = '']: readonly string[], secrets: TemplateValues): string {
  return `${secrets[user] ?? ''}:${secrets[password] ?? ''}`;
}

/**
 * Replaces placeholders by their values, and a brace behind a backslash by the brace. Throws `UsageError` for a
 * placeholder without a value, and for a name in the form of another system, such as `{{name}}`.
 */
function fillTemplate(
  text: string,
  values: TemplateValues,
  encode: (value: string) => string = (value) => value,
): string {
  const foreign = [unfilledMacro(text), ...macrosIn(text)].find(
    (macro) => macro !== undefined && Object.hasOwn(values, macro.name) && macro.written !== `{${macro.name}}`,
  );
  if (foreign !== undefined) throw new UsageError(`"${text}" has ${foreign.written}: write {${foreign.name}}`);
  return text.replaceAll(/\\\{|\{(\w+)\}/g, (_whole, name: string | undefined) => {
    if (name === undefined) return '{';
    const value = values[name];
    if (value === undefined)
      throw new UsageError(
        `"${text}" has the unknown placeholder {${name}}; use a secret's name, or ${knownNames}; ` +
          'a brace that is meant is \\{',
      );
    return encode(value);
  });
}

const knownNames = 'page, size, cursor, token, from, to or campaign';
