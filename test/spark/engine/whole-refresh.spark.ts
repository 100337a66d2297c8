import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { GrowingLanding, wallClock } from '../../fault/lives/growing-landing.ts';
import { differences, publishedAndHandedOver } from '../../fault/lives/published-tables.ts';
import { watchedEffects } from '../../fault/lives/watched-effects.ts';
import { isLong } from '../cluster/is-long.ts';

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
/** Each engine follows the other once, by default. */
const rounds = isLong ? 4 : 2;

/** Has the next runs stage logs by this engine. */
async function configure({ settingsFile }: DataDirectory, engine: 'duckdb' | 'spark'): Promise<void> {
  const { python, master } = inject('spark');
  const settings = JSON.parse(await readFile(settingsFile, 'utf8')) as object;
  const spark = { kind: engine, master, python, resources: { executor_memory: '1g', driver_memory: '512m' } };
  await writeFile(settingsFile, JSON.stringify({ ...settings, engine: engine === 'spark' ? spark : { kind: engine } }));
}

it(`begun with either engine and gone on with the other, ${rounds} refreshes publish what DuckDB publishes`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-engines-'));
  const lives = ['duckdb', 'spark-first', 'duckdb-first'].map((name) => new DataDirectory(join(folder, name)));
  const [byDuckdb, ...mixed] = lives as [DataDirectory, DataDirectory, DataDirectory];
  const landing = new GrowingLanding(7, rounds);
  try {
    for (const data of lives) await landing.prepare(data);
    for (let round = 0; round < rounds; round++) {
      for (const [place, data] of lives.entries()) {
        await landing.land(data, round);
        if (place > 0) await configure(data, round % 2 === place - 1 ? 'spark' : 'duckdb');
        await refresh(
          { data, terminal, asOf: landing.asOf(round) },
          watchedEffects(wallClock, () => undefined),
        );
      }
      const expected = await publishedAndHandedOver(byDuckdb);
      for (const data of mixed)
        expect(differences(expected, await publishedAndHandedOver(data)), `round ${round}`).toEqual([]);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}, 900_000);
