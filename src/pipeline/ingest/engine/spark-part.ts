import type { DuckDBConnection } from '@duckdb/node-api';
import { FleetPart } from '../../../kit/config/fleet-part.ts';
import type { Settings } from '../../../kit/config/settings.ts';
import type { Run } from '../../runs/stage.ts';
import type { EventEngine } from './event-engine.ts';

type OpenSparkEngine = (
  run: Run,
  connection: DuckDBConnection,
  settings: Extract<Settings['engine'], { kind: 'spark' }>,
) => EventEngine;

export const sparkEngine = new FleetPart<OpenSparkEngine>('engine');
