import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { OfferRules } from '../../kit/sites/offer-rules.ts';
import { rulesText } from '../../kit/sites/selector-text.ts';
import { differingPairs, type Pair } from './differing-pairs.ts';

/** What differs of the terms of sites. Null on the side that lacks the site or the entry. */
export interface TermsDiff {
  /** Shares that the network keeps: a site's own, or one `of` some offers, such as `source:north` or `offer:7`. */
  commissions: ({ site_key: string; of: string | null } & Pair<string>)[];
  /** Offers that a site may have, such as `all, but not source:north`. */
  rules: ({ site_key: string } & Pair<string>)[];
}

/** Compares the terms of sites in two attached snapshots, `before` and `after`. */
export async function diffTerms(connection: DuckDBConnection): Promise<TermsDiff> {
  const [before, after] = [await termsIn(connection, 'before'), await termsIn(connection, 'after')];
  return {
    commissions: differingPairs(before.commissions, after.commissions).map(([key, pair]) => {
      const [site_key, of] = JSON.parse(key) as [string, string | null];
      return { site_key, of, ...pair };
    }),
    rules: differingPairs(before.rules, after.rules).map(([site_key, pair]) => ({ site_key, ...pair })),
  };
}

/** Commissions by site and offers, and rules by site. */
async function termsIn(
  connection: DuckDBConnection,
  side: 'before' | 'after',
): Promise<{ commissions: Map<string, string>; rules: Map<string, string> }> {
  const tables = await queryRows<{ name: string }>(
    connection,
    'SELECT table_name AS name FROM duckdb_tables() WHERE database_name = $1',
    [side],
  );
  // Snapshots of version 0.2.0 have no exceptions and no rules.
  const has = (table: string) => tables.some(({ name }) => name === table);
  const exceptions = has('site_commissions')
    ? `UNION ALL SELECT site_key, coalesce('source:' || source, 'offer:' || offer_id), commission FROM "${side}".site_commissions`
    : '';
  const shares = await queryRows<{ site_key: string; of: string | null; commission: string }>(
    connection,
    `SELECT site_key, NULL AS of, commission FROM "${side}".sites ${exceptions} ORDER BY site_key, of NULLS FIRST`,
  );
  const rules = await queryRows<{ site_key: string; offers: string | null }>(
    connection,
    has('site_terms')
      ? `SELECT site_key, terms.offers FROM "${side}".sites LEFT JOIN "${side}".site_terms AS terms USING (site_key)
         WHERE valid_to IS NULL ORDER BY site_key`
      : `SELECT site_key, NULL AS offers FROM "${side}".sites ORDER BY site_key`,
  );
  return {
    commissions: new Map(shares.map(({ site_key, of, commission }) => [JSON.stringify([site_key, of]), commission])),
    rules: new Map(
      rules.map(({ site_key, offers }) => [site_key, rulesText(JSON.parse(offers ?? '{}') as OfferRules)]),
    ),
  };
}
