import { expect, it } from 'vitest';
import { defaultSettings, parseSettings } from '../../../src/kit/config/settings.ts';

const engineOf = (engine: object) => parseSettings(JSON.stringify({ engine }), 'offerline.json').engine;

it('DuckDB is the engine where none is named; Spark has a master or a Connect server', () => {
  expect(defaultSettings.engine).toEqual({ kind: 'duckdb' });
  expect(engineOf({ kind: 'spark', master: 'spark://host:7077' })).toEqual({
    kind: 'spark',
    master: 'spark://host:7077',
    python: 'python3',
    resources: {},
    time_limit_s: 21_600,
    executor_wait_s: 600,
  });
  expect(engineOf({ kind: 'spark', connect: 'sc://host' })).toMatchObject({ connect: 'sc://host' });
});

it.for([
  [{ kind: 'spark' }, 'needs one of master and connect'],
  [{ kind: 'spark', master: 'local', connect: 'sc://host' }, 'needs one of master and connect'],
  [{ kind: 'spark', connect: 'host' }, 'does not begin with sc://'],
  [{ kind: 'spark', master: 'local', shared_folder: 'shared' }, 'is not an absolute path'],
  [{ kind: 'spark', master: 'local', resources: { executor_memory: '1 gigabyte' } }, 'is not an amount such as'],
  [{ kind: 'duckdb', master: 'local' }, 'master'],
  [{ kind: 'flink' }, 'engine'],
] as const)('%o is refused: %s', ([engine, message]) => {
  expect(() => engineOf(engine)).toThrow(message);
});
