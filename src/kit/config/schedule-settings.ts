import { z } from 'zod';

const planKeys = {
  cron: z
    .string()
    .meta({ takes: 'cron expression, UTC', description: 'When it runs; a sixth field in front counts seconds' }),
  catch_up: z
    .enum(['all', 'last', 'none'])
    .default('last')
    .describe('Moments that passed while no schedule ran: one run for each, one for the newest, or none'),
  overlap: z
    .enum(['skip', 'queue'])
    .default('skip')
    .describe('A moment that comes while the run before is still under way: left out, or run after it'),
};

/** Pulls exclude each other by source, so that one that waits for its network need not keep the others. */
const pullKeys = {
  ...planKeys,
  overlap: z
    .enum(['beside', 'skip', 'queue'])
    .default('beside')
    .describe(
      'A moment that comes while the run before is still under way: run beside it without the sources that it still pulls, left out, or run after it',
    ),
};

/** A pipeline's plan: a cron expression alone, an object with what becomes of times that passed, or null for never. */
function plan<Keys extends typeof planKeys | typeof pullKeys>(
  cron: string,
  description: string,
  keys: Keys,
  hint = '',
) {
  const full = z.strictObject(keys);
  const overlaps = keys.overlap.unwrap().options.map((overlap) => `"${overlap}"`);
  return z
    .union([full, z.string().transform((text) => full.parse({ cron: text })), z.null()], {
      error: `is null, a cron expression, or {"cron": "…", "catch_up": "all" | "last" | "none", "overlap": ${overlaps.join(' | ')}${hint}}`,
    })
    .prefault(cron)
    .meta({ takes: 'cron expression, object or null for never', description });
}

/** Moments at which each pipeline runs. */
export const scheduleSchema = z
  .strictObject({
    refresh: plan(
      '*/5 * * * *',
      'Reads what has landed, computes, publishes and delivers',
      {
        ...planKeys,
        watch: z
          .union([z.boolean(), z.literal('tracker')])
          .default('tracker')
          .meta({
            takes: '`true`, `false` or `"tracker"`',
            description:
              'Also runs as soon as files have landed: `"tracker"`: files that the tracker hands over; `true`: all files, where their sender renames them into place',
          }),
      },
      ', "watch": true',
    ),
    pull: plan('*/20 * * * *', 'Pulls the sources of `sources.json` that have no `every` of their own', pullKeys),
    postbacks: plan('*/10 * * * * *', 'Delivers postbacks that are due', planKeys),
    maintenance: plan('30 3 * * *', 'Compacts closed days and deletes what `retention` no longer keeps', planKeys),
    pictures: plan('*/15 * * * *', 'Mirrors pictures, where `pictures` is true', planKeys),
  })
  .prefault({});
