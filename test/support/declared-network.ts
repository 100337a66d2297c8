import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import type { PullClock } from '../../src/sources/http/budget.ts';
import { temporaryData } from './published-snapshot.ts';

export const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

type Answer = (url: URL, headers: IncomingHttpHeaders, body: string) => string | Promise<string>;

/** A network of one test's own, that answers each path, query and body with a text. */
export async function serve(answer: Answer): Promise<string> {
  const { url, stop } = await serveUntil(answer);
  onTestFinished(stop);
  return url;
}

/** The same for several tests, until it is stopped. */
export async function serveUntil(answer: Answer): Promise<{ url: string; stop: () => void }> {
  const server = createServer((request, response) => {
    void text(request).then(async (body) =>
      response.end(await answer(new URL(request.url ?? '/', 'http://x'), request.headers, body)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => void server.close() };
}

/** A data directory of one test's own, with these sources. */
export async function dataWith(...sources: object[]): Promise<DataDirectory> {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  return data;
}

/** The offers of a source's only export. */
export async function exported(data: DataDirectory, source: string): Promise<unknown[]> {
  const folder = join(data.landing, 'offers', source);
  const [file = ''] = await readdir(folder);
  const lines = (await readFile(join(folder, file), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
}

/** A clock that only waits move. */
export function clockFrom(milliseconds: number): PullClock {
  let now = milliseconds;
  return { now: () => now++, steady: () => now, wait: async (waited) => void (now += waited), random: () => 0.5 };
}

/** Pulls a source `mine`, and returns the result, and the offers of its export where it was pulled. */
export async function pullMine(source: object) {
  const data = await dataWith({ source: 'mine', ...source });
  const [pulled] = await pullSources({ data, terminal }, realEffects, clockFrom(Date.parse('2026-11-20T12:00:00Z')));
  return { pulled, offers: typeof pulled?.file === 'string' ? await exported(data, 'mine') : [] };
}
