import type { DuckDBConnection } from '@duckdb/node-api';
import { driversOfRun } from '../src/fleet/spark/drivers-of-run.ts';
import { SparkEngine } from '../src/fleet/spark/spark-engine.ts';
import { DuckdbEngine } from '../src/pipeline/ingest/engine/duckdb-engine.ts';
import type { EventEngine } from '../src/pipeline/ingest/engine/event-engine.ts';
import type { Run } from '../src/pipeline/runs/stage.ts';

/** Returns a run's engine by `engine` of `offerline.json`. */
export function engineOfRun(run: Run, connection: DuckDBConnection): EventEngine {
  const { engine } = run.settings;
  if (engine.kind === 'duckdb') return new DuckdbEngine(run, connection);
  return new SparkEngine(run, connection, driversOfRun(run, engine), engine.shared_folder);
}
