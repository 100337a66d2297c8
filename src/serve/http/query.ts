/** A name that stood more than once in the query: which one was meant cannot be known. */
export const repeated = Symbol('repeated');
/** A value whose percent-encoding is broken or is not UTF-8. */
export const undecodable = Symbol('undecodable');

export type QueryValue = string | typeof repeated | typeof undecodable;

/** The query string by name, as text: nothing is coerced. An empty value counts as absent and is not here. */
export type Query = Readonly<Record<string, QueryValue>>;

/** Reads a query string as a form writes it: `&` between pairs, `+` for a space, percent-encoded UTF-8. */
export function parseQuery(text: string): Query {
  const query = Object.create(null) as Record<string, QueryValue>;
  if (text === '') return query;
  // Made for the rare queries that have such.
  let empty: Set<string> | undefined;
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name === undecodable || name === '') continue;
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    if (name in query || empty?.has(name)) query[name] = repeated;
    else if (value !== '') query[name] = value;
    else (empty ??= new Set()).add(name);
  }
  return query;
}

function decode(text: string): string | typeof undecodable {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undecodable;
  }
}
