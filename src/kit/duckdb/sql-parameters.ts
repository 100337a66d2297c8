import { quoted } from '../text/sql-text.ts';
import { microsecondsOf } from '../time/moment.ts';

/** Parameters by name, as a query has them behind `$`: moments as RFC 3339 text in UTC, and days. */
export type QueryParameters = Record<string, string>;

/**
 * A query with its parameters written into it. DuckDB plans a statement with parameters twice, when it is prepared and
 * again once their values are known; for models over little data the planning is nearly all there is. Moments become
 * literals with their offset, which mean the same in every session's time zone. Throws where a parameter has no value.
 */
export function withParameters(query: string, parameters: QueryParameters): string {
  return query.replaceAll(/\$(\w+)/g, (written, name: string) => {
    const value = parameters[name];
    if (value === undefined) throw new Error(`a query asks for ${written}, which nobody gives it`);
    return microsecondsOf(value) === null ? quoted(value) : `TIMESTAMPTZ ${quoted(value)}`;
  });
}
