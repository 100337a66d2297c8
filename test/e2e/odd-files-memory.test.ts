import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { writeRoutes } from '../../src/pipeline/routes/publish-routes.ts';
import { startListening, type ListeningProcess } from '../support/listening-process.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../support/published-snapshot.ts';
import { route } from '../tracker/tracker-under-test.ts';
import { slow } from '../support/slow.ts';

const secret = 'a-long-enough-secret';
const token = 'a-token-of-the-source-0123456789';
const mostMegabytes = 400;

interface Running extends ListeningProcess {
  /** Resolves once the log has so many lines that hold the text. */
  told: (text: string, times: number) => Promise<void>;
}

async function running(data: DataDirectory, command: string): Promise<Running> {
  const started = await startListening(data.root, command);
  onTestFinished(() => started.end('SIGKILL'));
  return {
    ...started,
    async told(text, times) {
      for (let waited = 0; started.log().split(text).length - 1 < times; waited++) {
        if (waited > 150) throw new Error(`${command} never said "${text}" ${times} times:\n${started.log()}`);
        await setTimeout(100);
      }
    },
  };
}

/** What may lie where a file should. */
const odd: ((path: string) => void)[] = [
  (path) => void execFileSync('mkfifo', [path]),
  (path) => symlinkSync('/dev/zero', path),
  (path) => {
    writeFileSync(path, '');
    truncateSync(path, 8 * 2 ** 30);
  },
  (path) => mkdirSync(path),
];

test.runIf(process.platform === 'linux')(
  'serve and track go on in little memory, whatever a file is',
  slow,
  async () => {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    await writeSites(data, [{ site_key: 'list', site_secret: secret, variant: 'C' }]);
    writeFileSync(data.sourcesFile, JSON.stringify({ sources: [{ source: 'north', postback: { token } }] }), {
      mode: 0o600,
    });
    await writeSnapshot(data, 'one', { offers: [feedOffer({ id: 1 })] });
    await makeCurrent(data, 'one');
    const about = { snapshot_id: 'one', as_of: '2026-11-20T12:00:00Z' };
    const line = Buffer.from(`${JSON.stringify(route({ offer_id: 1 }))}\n`);
    await writeRoutes(data, about, [line], realEffects.files);
    const [serve, track] = [await running(data, 'serve'), await running(data, 'track')];

    for (const [index, put] of odd.entries()) {
      for (const path of [data.sitesFile, data.sourcesFile]) {
        rmSync(path, { recursive: true });
        put(path);
      }
      // The tracker tells of both, the service of its sites.
      await Promise.all([serve.told('sites.json', index + 1), track.told('sources.json', index + 1)]);
      const list = await fetch(`${serve.address}/c/api/v1/offers?site_key=list&site_secret=${secret}`);
      expect(list.status).toBe(200);
    }

    const leaves = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [n, 0]));
    const hostile = JSON.stringify({ token, ['path'.repeat(30)]: leaves });
    expect(hostile.length).toBeLessThan(10_000);
    const report = () =>
      fetch(`${track.address}/postback/north`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: hostile,
      });
    for (let sent = 0; sent < 400; sent += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, report));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
      for (const answer of answers) await answer.arrayBuffer();
    }
    const kept = readdirSync(data.refusedConversions).map((name) => statSync(join(data.refusedConversions, name)).size);
    expect(kept).toHaveLength(1);
    expect(kept[0]).toBeLessThan(16 * 2 ** 20 + 1);
    const peaks = [serve, track].map((each) => each.peakMegabytes());
    expect(Math.max(...peaks), `megabytes at the peaks of serve and track: ${peaks.join(', ')}`).toBeLessThan(
      mostMegabytes,
    );
  },
);
