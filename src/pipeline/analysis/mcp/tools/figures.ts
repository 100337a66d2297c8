import { z } from 'zod';
import { UsageError } from '../../../../kit/errors/errors.ts';
import { defineTool, snapshotParameter } from '../tool.ts';

/** Figures with their definitions, and the SQL that computes each from published tables. */
export const figuresTool = defineTool({
  name: 'figures',
  title: 'Definitions of figures',
  description:
    'Without `figure`: every figure (clicks, conversions, earnings, epc, cvr, trend, rank and what publishers see) with its definition in words, unit, and where it is shown. ' +
    'With `figure`: also the SQL that computes it on this snapshot; run it by `query`, changed as the question needs it.',
  input: z.strictObject({
    figure: z.string().max(200).optional().describe('Name of a figure, such as epc'),
    snapshot: snapshotParameter,
  }),
  answer: ({ figure }, asked) =>
    asked.open(async (connection) => {
      const figures = await asked.rows(connection, 'figures');
      if (figure === undefined) return { figures };
      const [found] = await asked.rows(connection, 'figure', { name: figure });
      if (found === undefined)
        throw new UsageError(
          `there is no figure "${figure}"; there are ${figures.map(({ metric }) => metric).join(', ')}`,
        );
      return found;
    }),
});
