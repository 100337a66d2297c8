/**
 * node delivery.ts <data directory> <site left out of the percentile> [live]
 *
 * One pass over what is due there. Prints its seconds, and within how many milliseconds 95 % of the postbacks to the
 * other sites were delivered, counted from the beginning of the pass. With `live` also the most bytes that were in use
 * after a garbage collection, which takes time of the pass.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deliverPostbacks } from '../../../pipelines/postbacks.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';

const betweenCollections = 200;

const [root = '', leftOut = '', live] = process.argv.slice(2);
const data = new DataDirectory(root);
const terminal = { logger: createLogger(process.stderr, 'error'), progress: noProgress };

let liveBytes = 0;
function collectAndMeasure(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  liveBytes = Math.max(liveBytes, heapUsed + external);
}
const watch = live === undefined ? undefined : setInterval(collectAndMeasure, betweenCollections);

const began = Date.now();
const started = performance.now();
await deliverPostbacks({ data, terminal, command: 'bench' });
const seconds = (performance.now() - started) / 1000;
clearInterval(watch);

const store = SqliteStore.open(data);
const { at } = store.database
  .prepare(
    `SELECT delivered_at AS at FROM postbacks WHERE delivered_at IS NOT NULL AND site_key <> ? ORDER BY delivered_at LIMIT 1
  OFFSET (SELECT count(*) * 95 / 100 FROM postbacks WHERE delivered_at IS NOT NULL AND site_key <> ?)`,
  )
  .get(leftOut, leftOut) as { at: number };
await store.close();
process.stdout.write(JSON.stringify({ seconds, p95: at - began, liveBytes }));
