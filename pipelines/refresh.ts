import type { Effects } from '../src/kit/files/effects.ts';
import { AuditError, UsageError } from '../src/kit/errors/errors.ts';
import { ingestStage } from '../src/pipeline/ingest/ingest-stage.ts';
import { modelsStage } from '../src/pipeline/models/models-stage.ts';
import { syncDeliveries } from '../src/pipeline/deliveries/sync-deliveries.ts';
import { publishStage } from '../src/pipeline/snapshot/publish-stage.ts';
import { endOfPresent, futureTimestampsAdvice } from '../src/kit/time/ahead-of-clock.ts';
import { compareMoments, dateOf } from '../src/kit/time/moment.ts';
import { readFutureEffective, describeFutureEffective } from '../src/pipeline/runs/future-effective.ts';
import { queryRows } from '../src/kit/duckdb/dialect/rows.ts';
import { engineOfRun } from './engine-of-run.ts';
import { deliverAfterRefresh } from './postbacks.ts';
import { alarmsOf } from './run-alarms.ts';
import { runPipeline, type OpenRun, type RunRequest } from './run-pipeline.ts';

const ingest = ({ stage, state, sites }: OpenRun) =>
  stage(ingestStage, { state, sites, engine: engineOfRun }, ({ rows, accepted, bytes }) => ({
    rowsIn: rows,
    rowsOut: accepted,
    bytes,
  }));
const sync = ({ stage, state }: OpenRun) =>
  stage(syncDeliveries, state, ({ handedOver, changed }) => ({ rowsIn: changed, rowsOut: handedOver }));
const models = ({ stage, state }: OpenRun) => stage(modelsStage, state, ({ offers }) => ({ rowsOut: offers }));
const publish = ({ stage, state, sites }: OpenRun, { asOf, allowOlder, allowFuture }: RunRequest) =>
  stage(publishStage, { state, sites, asOf, allowOlder, allowFuture }, ({ rows, bytes }) => ({ rowsOut: rows, bytes }));

/**
 * Runs `work`. Throws `UsageError` where an offer version or commission takes effect later than as-of and clock:
 * credits would go by older prices than the feeds show.
 */
function runPriced<Result extends object>(
  pipeline: string,
  request: RunRequest,
  work: (open: OpenRun) => Promise<Result>,
  effects?: Effects,
) {
  return runPipeline(
    pipeline,
    request,
    async (open) => {
      const { asOf, wallClock } = open.run;
      const present = endOfPresent(dateOf(wallClock).getTime());
      const ahead = await readFutureEffective(compareMoments(asOf, present) > 0 ? asOf : present, 'state', (sql) =>
        queryRows(open.state.connection, sql),
      );
      if (ahead !== undefined) throw new UsageError(`${describeFutureEffective(ahead)}; ${futureTimestampsAdvice}`);
      return work(open);
    },
    effects,
  );
}

/**
 * Ingests, syncs with the delivery store, computes the models, audits and publishes. Then, with the warehouse released,
 * sends the postbacks that are due, also where an audit failed. Run twice with the same as-of and no new input it makes
 * no new snapshot and no new postback.
 */
export async function refresh(request: RunRequest, effects?: Effects) {
  const deliver = () => deliverAfterRefresh(request.data, request.terminal, effects, request.stop);
  try {
    const result = await runPriced(
      'refresh',
      request,
      async (open) => {
        const ingested = await ingest(open);
        const postbacks = await sync(open);
        const computed = await models(open);
        const published = await publish(open, request);
        const alarms = await alarmsOf(open, ingested);
        for (const alarm of alarms) open.run.logger.warn(alarm);
        return {
          ingested,
          postbacks,
          computed,
          snapshotId: published.snapshotId,
          audits: published.audits,
          retired: published.retired,
          alarms,
        };
      },
      effects,
    );
    return { ...result, delivery: await deliver() };
  } catch (error) {
    // The failed audit is the error to report.
    if (error instanceof AuditError)
      await deliver().catch((failure: unknown) =>
        request.terminal.logger.error({ err: failure }, 'postbacks could not be delivered; the next run tries again'),
      );
    throw error;
  }
}

/** Stages that `run <stage>` runs alone, in their order. */
export const stages = {
  ingest: (request: RunRequest, effects?: Effects) =>
    runPriced(
      'ingest',
      request,
      async (open) => ({ ingested: await ingest(open), postbacks: await sync(open) }),
      effects,
    ),
  models: (request: RunRequest, effects?: Effects) =>
    runPriced('models', request, async (open) => ({ computed: await models(open) }), effects),
  publish: (request: RunRequest, effects?: Effects) =>
    runPriced('publish', request, (open) => publish(open, request), effects),
  'sync-deliveries': (request: RunRequest, effects?: Effects) =>
    runPipeline('sync-deliveries', request, async (open) => ({ postbacks: await sync(open) }), effects),
};
export type StageName = keyof typeof stages;
