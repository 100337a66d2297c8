import { DuckdbEngine } from '../../../../src/pipeline/ingest/engine/duckdb-engine.ts';
import { engineContract } from './contract.ts';

engineContract('duckdb', (run, connection) => new DuckdbEngine(run, connection), 6);
