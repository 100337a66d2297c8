import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { ActionJobs } from '../../../src/console/actions/jobs.ts';
import type { Job } from '../../../src/console/actions/job.ts';
import { readLockHolder } from '../../../src/kit/files/process-lock.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { launcher } from '../../support/command-line.ts';

export function openJobs(data: DataDirectory, environment: NodeJS.ProcessEnv = {}): Promise<ActionJobs> {
  const logger = createLogger({ write: () => true }, 'silent');
  return ActionJobs.open({ data, logger, launcher: { ...launcher, environment } });
}

/** Waits until a job has ended. */
export async function ended(jobs: ActionJobs, { id }: Job): Promise<Job> {
  await jobs.ended(id);
  const found = await jobs.find(id);
  if (found === undefined) throw new Error(`there is no job ${id}`);
  return found.job;
}

let forms = 0;

/** Previews an action, starts it by a form of its own and waits for its end. */
export async function act(jobs: ActionJobs, action: string, given: Record<string, unknown> = {}): Promise<Job> {
  const { digest } = await jobs.preview(action, given);
  return ended(jobs, await jobs.start(action, given, digest, asker()));
}

export function asker(user = 'ada') {
  return { user, requestId: `form-${String(++forms).padStart(6, '0')}` };
}

/** A network that accepts requests and never answers, so that a pull runs until it is killed. */
export async function silentNetwork(
  data: DataDirectory,
): Promise<{ asked: Promise<void>; pullingProcess: () => number }> {
  const network = createServer();
  const asked = new Promise<void>((resolve) => {
    network.once('request', () => resolve());
  });
  await new Promise<void>((resolve) => {
    network.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    network.closeAllConnections();
    network.close();
  });
  const { port } = network.address() as AddressInfo;
  const source = { source: 'one', connector: 'tune', base_url: `http://127.0.0.1:${port}` };
  const secrets = { NetworkId: 'n', api_key: 'a-key-that-nobody-must-see' };
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [{ ...source, secrets }] }), { mode: 0o600 });
  return {
    asked,
    pullingProcess: () => {
      const holder = readLockHolder(join(data.sources, 'one.lock'));
      if (holder === undefined) throw new Error('nobody pulls');
      return holder.pid;
    },
  };
}
