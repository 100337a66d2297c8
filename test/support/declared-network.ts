import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { temporaryData } from './published-snapshot.ts';

export const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

/** A network of one test's own, that answers each path, query and body with a text. */
export async function serve(answer: (url: URL, headers: IncomingHttpHeaders, body: string) => string): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) =>
      response.end(answer(new URL(request.url ?? '/', 'http://x'), request.headers, body)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A data directory of one test's own, with these sources. */
export async function dataWith(...sources: object[]): Promise<DataDirectory> {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  return data;
}
