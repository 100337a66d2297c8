import type { Moment } from '../../kit/time/moment.ts';

/** Offer versions and sites' terms that take effect after a moment. */
export interface FutureEffective {
  versions: number;
  terms: number;
  /** Moment at which the last of them takes effect. */
  last: Moment;
}

/** Queries for when versions and terms take effect. */
const relations = {
  state: `SELECT 'version' AS what, valid_from FROM offer_versions UNION ALL SELECT 'terms', valid_from FROM site_terms`,
  snapshot: `SELECT 'version' AS what, valid_from FROM offer_history UNION ALL SELECT 'terms', commission_changed_at FROM sites`,
};

/**
 * Counts versions and terms of the state or a snapshot that take effect after a moment; undefined without any.
 */
export async function readFutureEffective(
  after: Moment,
  where: keyof typeof relations,
  query: <R>(sql: string) => Promise<R[]>,
): Promise<FutureEffective | undefined> {
  const [found] = await query<Omit<FutureEffective, 'last'> & { last: Moment | null }>(
    `SELECT count(*) FILTER (what = 'version') AS versions, count(*) FILTER (what = 'terms') AS terms, max(valid_from) AS last
     FROM (${relations[where]}) WHERE valid_from > TIMESTAMPTZ '${after}'`,
  );
  return found === undefined || found.last === null ? undefined : { ...found, last: found.last };
}

export function describeFutureEffective({ versions, terms, last }: FutureEffective): string {
  return `${versions} versions of offers and ${terms} changes of sites' terms begin ahead of this machine's clock, the last at ${last}: credits until then would go by older prices than the feeds show`;
}
