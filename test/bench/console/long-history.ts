import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readOnly, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { quoted } from '../../../src/kit/text/sql-text.ts';
import { addDays, dayOf } from '../../../src/kit/time/moment.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import { arrivalEnd, changeSites, generateLogs, historyEnd, type Bench } from '../bench.ts';
import { measureRefresh } from '../measured-refresh.ts';
import { largeCatalog, publishForServing, type ServingData } from '../serve/serving-data.ts';

const network = { offers: largeCatalog.offers, sites: 50 };
/** Conversions become postbacks, none of which is sent: the address is a private one. */
const neverSent = { url: 'http://127.0.0.1:1/told?click={click_id}', method: 'GET' };
/** Of the network before it gets its history. */
const ownClicks = 20_000;

/**
 * A published history of 60 days of a million clicks, one in a hundred of which converts: a small network is refreshed,
 * then its long logs, which SQL writes as Parquet, a day in seconds.
 */
export async function publishLongHistory(bench: Bench): Promise<ServingData> {
  const { options, terminal, signal } = bench;
  const { days, clicksADay } = options.quick ? { days: 5, clicksADay: 20_000 } : { days: 60, clicksADay: 1_000_000 };
  const own = await generateLogs(bench, 'long-history', { ...network, clicks: ownClicks, days: 2, end: historyEnd });
  const { data, sites } = await publishForServing(own, signal);
  const clicks = own.clicks + days * clicksADay;
  const folder = { clicks: join(data.landing, 'clicks'), conversions: join(data.landing, 'conversions') };
  for (const each of Object.values(folder)) await mkdir(each, { recursive: true });
  terminal.progress.start(`writing ${days * clicksADay} clicks on ${days} days`, days);
  await withDuckDB(join(data.current, analyticsFile), readOnly, async (connection) => {
    for (let day = 0; day < days; day++) {
      signal.throwIfAborted();
      const date = addDays(dayOf(historyEnd), day + 1 - days);
      const name = `long-${date}.parquet`;
      const write = (query: string, to: string) => connection.run(`COPY (${query}) TO ${quoted(join(to, name))}`);
      await write(clicksOf(date, day * clicksADay, clicksADay), folder.clicks);
      await write(conversionsOf(join(folder.clicks, name)), folder.conversions);
      terminal.progress.advance(day + 1);
    }
  }).finally(() => terminal.progress.finish());
  await changeSites(data, { postback: neverSent });
  terminal.logger.info({ clicks }, 'refreshing the history');
  await measureRefresh(data, arrivalEnd, { clicks }, signal);
  return { data, clicks, sites };
}

/** Few offers have most clicks; one click in five names its offer as its source does. */
function clicksOf(date: string, first: number, count: number): string {
  const drawn = (salt: number) => `(hash(number, ${salt}) / 18446744073709551615.0)`;
  return `
    WITH
      drawn_offers AS (SELECT row_number() OVER (ORDER BY hash(offer_id)) AS place, offer_id, source, external_id FROM offers),
      drawn_sites AS (SELECT row_number() OVER (ORDER BY site_key) AS place, site_key FROM sites),
      placed AS (
        SELECT number,
          1 + floor(${network.offers} * ${drawn(1)} ** 3)::BIGINT AS offer_place,
          1 + floor((SELECT count(*) FROM sites) * ${drawn(2)} ** 2)::BIGINT AS site_place
        FROM (SELECT range AS number FROM range(${first}, ${first + count}))
      )
    SELECT format('{:016x}', hash(number)) AS click_id,
      CASE WHEN number % 5 <> 0 THEN offer.offer_id END AS offer_id,
      CASE WHEN number % 5 = 0 THEN offer.source END AS source,
      CASE WHEN number % 5 = 0 THEN offer.external_id END AS external_id,
      site_key,
      'user-' || hash(number, 3) % 1000000 AS user_id,
      TIMESTAMPTZ '${date} 00:00:00+00' + to_microseconds((number - ${first}) * 86000000000 // ${count}) AS clicked_at,
      (['US', 'GB', 'DE', 'FR', 'BR', 'JP'])[1 + (hash(number, 4) % 6)::INTEGER] AS country,
      (['android', 'ios', 'desktop'])[1 + (hash(number, 5) % 3)::INTEGER] AS device,
      '203.0.113.' || hash(number, 6) % 256 AS ip,
      'Mozilla/5.0 (Linux; Android 14) Mobile/' || hash(number, 7) % 500 AS user_agent,
      'campaign-' || number % 40 AS sub1
    FROM placed
    JOIN drawn_offers AS offer ON offer.place = offer_place
    JOIN drawn_sites AS site ON site.place = site_place`;
}

/** A credit minutes after the click; some are rejected as well, or charged back. */
function conversionsOf(clicks: string): string {
  return `
    WITH converted AS (SELECT *, hash(click_id, 8) AS drawn FROM ${quoted(clicks)} WHERE hash(click_id, 9) % 100 = 0)
    SELECT 'cv-' || click_id AS conversion_id, click_id, kind, clicked_at + after AS occurred_at
    FROM converted, (VALUES ('credit', INTERVAL 1 MINUTE), ('reject', INTERVAL 2 MINUTES), ('chargeback', INTERVAL 3 MINUTES)) AS kinds(kind, after)
    WHERE kind = 'credit' OR (kind = 'reject' AND drawn % 50 = 0) OR (kind = 'chargeback' AND drawn % 50 = 1)`;
}
