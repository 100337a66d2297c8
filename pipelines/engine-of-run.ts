import type { DuckDBConnection } from '@duckdb/node-api';
import { DuckdbEngine } from '../src/pipeline/ingest/engine/duckdb-engine.ts';
import type { EventEngine } from '../src/pipeline/ingest/engine/event-engine.ts';
import { sparkEngine } from '../src/pipeline/ingest/engine/spark-part.ts';
import type { Run } from '../src/pipeline/runs/stage.ts';

/** Returns a run's engine by `engine` of `offerline.json`. */
export async function engineOfRun(run: Run, connection: DuckDBConnection): Promise<EventEngine> {
  const { engine } = run.settings;
  if (engine.kind === 'duckdb') return new DuckdbEngine(run, connection);
  return (await sparkEngine.load())(run, connection, engine);
}
