import { maintenance } from '../../../pipelines/maintenance.ts';
import { refresh } from '../../../pipelines/refresh.ts';
import type { RunRequest } from '../../../pipelines/run-pipeline.ts';
import type { Effects } from '../../../src/kit/files/effects.ts';

export type PipelineName = 'refresh' | 'maintenance';

/** The pipelines that meet faults. */
export const pipelines: Record<PipelineName, (request: RunRequest, effects: Effects) => Promise<object>> = {
  refresh,
  maintenance,
};
