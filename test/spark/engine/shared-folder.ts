import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { differences } from '../../fault/lives/published-tables.ts';
import { click, LogLanding } from '../../support/log-landing.ts';
import { ingested } from './same-as-duckdb.ts';
import type { SharedDriver } from './shared-driver.ts';

export function trySharedFolder(shared: SharedDriver): void {
  it('a shared folder of any name holds what Spark works on, and nothing once the run has ended', async () => {
    const folder = await mkdtemp(join(tmpdir(), "offerline shared [a] {b,c} * 100% ü'"));
    const found: Map<string, string[]>[] = [];
    try {
      for (const engine of [undefined, shared.engineIn(folder)]) {
        await using landing = await LogLanding.create();
        for (const run of [1, 2]) {
          // Another data directory's, and what an earlier run of this one left: the one stays.
          await mkdir(join(folder, 'offerline-other-run-1-clicks'), { recursive: true });
          const owner = await readFile(landing.data.sharedFolderOwnerFile, 'utf8').catch(() => undefined);
          if (owner !== undefined) await mkdir(join(folder, `offerline-${owner}-run-2-left-clicks`));
          const rows = [click(`c${run}`), click('c0'), 'bad'];
          await landing.putAt(`clicks/[${run}] {x} %20.ndjson`, rows, '2026-11-18T11:00:00Z');
          await landing.ingest({}, { engine });
          expect(await readdir(folder)).toEqual(['offerline-other-run-1-clicks']);
        }
        found.push(await ingested(landing));
      }
      const [byDuckdb = new Map<string, string[]>(), bySpark = new Map<string, string[]>()] = found;
      expect(byDuckdb.get('clicks')).toHaveLength(3);
      expect(differences(byDuckdb, bySpark)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}
