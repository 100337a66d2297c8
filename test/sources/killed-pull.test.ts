import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { refresh } from '../../pipelines/refresh.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { readRecentRuns } from '../../src/pipeline/runs/recent-runs.ts';
import { launcher, offerline } from '../support/command-line.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import { slow } from '../support/slow.ts';

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

it('a pull that was killed is interrupted for everybody who asks, and holds no later pull back', slow, async () => {
  // Never answers.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.close().closeAllConnections());
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fields = { external_id: 'id', title: 'name' };
  const sources = [{ source: 'slow', connector: 'http', base_url, offers: { path: '/', records: '', fields } }];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  await refresh({ data, terminal });
  const asked = once(server, 'request');
  const child = spawn(launcher.executable, [...launcher.words, 'sources', 'pull'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: 'ignore',
  });
  await asked;
  const status = async () =>
    JSON.parse((await offerline(data.root, 'status', '--json')).stdout) as { sources: object[] };
  expect((await status()).sources).toMatchObject([{ last_pull: 'running', ended_by_force: false }]);
  child.kill('SIGKILL');
  await once(child, 'exit');

  const listed = await offerline(data.root, 'sources', 'list');
  expect(listed.stdout).toContain('interrupted');
  const shown = await offerline(data.root, 'status');
  expect(shown.code).toBe(1);
  expect(shown.stdout).toContain('source slow was not pulled');
  expect(shown.stdout).toContain('offerline sources pull slow');
  const examined = await offerline(data.root, 'doctor');
  expect(examined.code).toBe(1);
  expect(examined.stdout).toContain('ended by force');
  await refresh({ data, terminal });
  expect(readRecentRuns(data).runs.find(({ pipeline }) => pipeline === 'pull slow')).toMatchObject({
    status: 'interrupted',
    error: 'ended by force, without a word',
  });
});
