/**
 * node duckdb-server.ts <analytics.duckdb>
 *
 * For contrast: Variant C's offers as a service would answer them that asks the database again each time. It is
 * spared identification, limits and milestones (single-reward offers only), and keeps its statements prepared.
 */
import { DuckDBInstance, type DuckDBPreparedStatement } from '@duckdb/node-api';
import { fastify } from 'fastify';

const query = `
  WITH matching AS MATERIALIZED (
    SELECT offers.*, round(payout * (1 - commission), 4)::DOUBLE AS published
    FROM offers JOIN sites ON site_key = $1
    WHERE offers.status = 'active' AND NOT is_multireward
      AND ($2 = '' OR len(countries) = 0 OR list_contains(countries, $2))
      AND ($3 = '' OR len(devices) = 0 OR list_contains(devices, $3))
      AND ($4 = '' OR list_contains(list_transform(categories, lambda category: lower(category)), $4))
      AND round(payout * (1 - commission), 4) >= $5::DECIMAL(15, 4)
  ), page AS (SELECT * FROM matching ORDER BY offer_id LIMIT 100 OFFSET $6::INTEGER)
  SELECT (SELECT count(*) FROM matching)::INTEGER AS total, coalesce((SELECT to_json(list({
    id: offer_id, title: title, description: coalesce(descriptions->>'$.en', descriptions->>('$."' || json_keys(descriptions)[1] || '"')),
    image: CASE WHEN image_name = '' THEN '' ELSE 'http://127.0.0.1:8080/asset/images/offers/' || image_name END,
    payout: published, currency: 'USD', level: level, stars: stars, categories: categories, countries: countries, devices: devices,
    payment_term: payment_term, android_min_os: android_min_os, ios_min_os: ios_min_os,
    tracking_url: 'http://127.0.0.1:8080/redirect/manual-offer/' || offer_id || '/user/{user_id}/site/' || $1,
    updated_at: strftime(updated_at, '%Y-%m-%dT%H:%M:%S+00:00'), created_at: strftime(created_at, '%Y-%m-%dT%H:%M:%S+00:00')
  } ORDER BY offer_id)) FROM page), '[]') AS offers`;

const [file = ''] = process.argv.slice(2);
const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY', threads: '1' });
const connections = 4;
const idle: DuckDBPreparedStatement[] = [];
const waiting: ((statement: DuckDBPreparedStatement) => void)[] = [];
for (let number = 0; number < connections; number++) {
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  idle.push(await connection.prepare(query));
}

const server = fastify();
server.get<{ Querystring: Record<string, string | undefined> }>('/c/api/v1/offers', async (request, reply) => {
  const { site_key = '', country = '', device = '', category = '', min_payout = '0', offset = '0' } = request.query;
  const statement = idle.pop() ?? (await new Promise<DuckDBPreparedStatement>((resolve) => waiting.push(resolve)));
  try {
    statement.bind([site_key, country, device, category.toLowerCase(), min_payout, offset]);
    const [row] = (await statement.runAndReadAll()).getRows();
    const [total, offers] = row as [number, string];
    const hasMore = Number(offset) + 100 < total;
    const body = `{"success":true,"version":"v1","total":${total},"offset":${offset},"limit":100,"has_more":${hasMore},"offers":${offers}}`;
    return await reply.header('content-type', 'application/json; charset=utf-8').send(Buffer.from(body));
  } finally {
    const next = waiting.shift();
    if (next === undefined) idle.push(statement);
    else next(statement);
  }
});
process.once('SIGTERM', () => process.exit());
process.stdout.write(JSON.stringify({ address: await server.listen({ host: '127.0.0.1', port: 0 }) }));
