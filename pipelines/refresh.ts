import type { Effects } from '../src/effects/effects.ts';
import { ingestStage } from '../src/ingest/ingest-stage.ts';
import { modelsStage } from '../src/models/models-stage.ts';
import { publishStage } from '../src/snapshot/publish-stage.ts';
import { runPipeline, type OpenRun, type RunRequest } from './run-pipeline.ts';

const ingest = ({ stage, state }: OpenRun) => stage(ingestStage, state, ({ rows, accepted }) => ({ rowsIn: rows, rowsOut: accepted }));
const models = ({ stage, state }: OpenRun) => stage(modelsStage, state, ({ offers }) => ({ rowsOut: offers }));
const publish = ({ stage, state, sites }: OpenRun, { asOf, allowOlder }: RunRequest) => stage(publishStage, { state, sites, asOf, allowOlder });

/** landing → ingest → models → audit and publish. Twice with the same as-of and no new input: no new snapshot. */
export function refresh(request: RunRequest, effects?: Effects) {
  return runPipeline('refresh', request, async (open) => {
    const ingested = await ingest(open);
    const computed = await models(open);
    const published = await publish(open, request);
    return { ingested, computed, snapshotId: published.snapshotId, audits: published.audits, retired: published.retired };
  }, effects);
}

/** The stages that `run <stage>` can run alone, in their order. */
export const stages = {
  ingest: (request: RunRequest, effects?: Effects) => runPipeline('ingest', request, async (open) => ({ ingested: await ingest(open) }), effects),
  models: (request: RunRequest, effects?: Effects) => runPipeline('models', request, async (open) => ({ computed: await models(open) }), effects),
  publish: (request: RunRequest, effects?: Effects) => runPipeline('publish', request, (open) => publish(open, request), effects),
};
export type StageName = keyof typeof stages;
