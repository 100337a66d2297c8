import { z } from 'zod';
import { UsageError } from '../../../../kit/errors/errors.ts';
import { addDays, dayOf, startOfDay } from '../../../../kit/time/moment.ts';
import { figureNames } from '../../../sql/figures.ts';
import { firstOf } from '../bounded-rows.ts';
import { defineTool, snapshotParameter } from '../tool.ts';

/** Clicks and conversions of an answer: the newest of them show what the figures are made of. */
const maxNewest = 200;
const maxSites = 100;

/** What one offer's figures are made of. */
export const explainTool = defineTool({
  name: 'explain',
  title: 'What the figures of an offer are made of',
  description:
    "Explains the two days' figures of one offer: each figure with its definition, what it adds up to by site, and the newest clicks and conversions that count in it or, like reversed conversions, do not. " +
    'The figures of all offers are in the table offer_stats_2d.',
  input: z.strictObject({
    offer_id: z
      .int()
      .min(1)
      .max(2 ** 31 - 1)
      .describe('Public id of the offer'),
    figure: z.enum(figureNames()).optional().describe('Only this figure, with its SQL'),
    newest: z.int().min(0).max(maxNewest).default(20).describe(`Clicks and conversions to list, at most ${maxNewest}`),
    snapshot: snapshotParameter,
  }),
  answer: ({ offer_id, figure, newest }, asked) =>
    asked.open(async (connection) => {
      const [offer] = await asked.ask(
        connection,
        `SELECT offer_id, title, source, status, payout FROM offers WHERE offer_id = ${offer_id}`,
      );
      if (offer === undefined)
        throw new UsageError(
          `no catalog ever had an offer ${offer_id}; find one by \`query\`: SELECT offer_id, title FROM offers WHERE title ILIKE '%…%'`,
        );
      const [values] = await asked.ask(
        connection,
        `SELECT * EXCLUDE (offer_id, as_of) FROM offer_stats_2d WHERE offer_id = ${offer_id}`,
      );
      const definitions = await asked.rows(connection, 'figures');
      const explained = definitions
        .filter(({ metric, served_as }) =>
          figure === undefined ? served_as.startsWith('offer_stats_2d.') : metric === figure,
        )
        .map(({ metric, unit, definition }) => ({ figure: metric, value: values?.[metric] ?? null, unit, definition }));
      const [query] = figure === undefined ? [] : await asked.rows(connection, 'figure', { name: figure });
      const parameters = { offer_id: String(offer_id), newest: String(newest) };
      const rows = await asked.rows(connection, 'offer_explained', parameters);
      const [counted] = await asked.rows(connection, 'offer_explained_rows', parameters);
      const sites = await asked.ask(
        connection,
        `SELECT * EXCLUDE (offer_id) FROM figures_by_site() WHERE offer_id = ${offer_id} ORDER BY clicks DESC, site_key`,
      );
      return {
        offer,
        window: { from: startOfDay(addDays(dayOf(asked.asOf), -1)), to: asked.asOf },
        figures: explained,
        ...(values === undefined && {
          without_figures: 'the offer has neither a click nor a credited conversion in the windows of its figures',
        }),
        ...(query && { sql: query.sql }),
        by_site: firstOf(sites, maxSites, `query FROM figures_by_site() WHERE offer_id = ${offer_id}`),
        newest_rows: rows,
        of_rows: counted?.of_rows ?? rows.length,
      };
    }),
});
