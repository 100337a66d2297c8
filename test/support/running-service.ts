import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { prettifyError } from 'zod';
import { defaultSettings } from '../../src/kit/config/settings.ts';
import type { Settings } from '../../src/kit/config/settings.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { operationsAt } from '../../src/serve/api/operations.ts';
import { openSharedLimits } from '../../src/cli/compose.ts';
import { createService } from '../../src/serve/service.ts';
import type { Service } from '../../src/serve/service.ts';

export interface RunningService {
  service: Service;
  /** Such as `http://127.0.0.1:40123`. */
  address: string;
  /** Log lines written so far. */
  log: { level: number; msg: string; [field: string]: unknown }[];
  /** Asks for the body as it stands unless told otherwise: `fetch` by itself would ask for it compressed. */
  get(path: string, init?: RequestInit): Promise<Response>;
  /**
   * The body as JSON; fails where the status is not the expected one, or where the OpenAPI document does not describe
   * it.
   */
  json(path: string, status?: number): Promise<any>;
  /** The same of a POST with these parameters as a form. */
  post(path: string, parameters: Record<string, string>, status?: number): Promise<any>;
}

/** Starts a service on a free port of 127.0.0.1. It looks for news only when the test says so. The caller closes it. */
export async function startService(
  data: DataDirectory,
  own: Partial<Settings> = {},
  now: number | (() => number) = Date.UTC(2026, 10, 20, 12, 30),
  environment?: NodeJS.ProcessEnv,
): Promise<RunningService> {
  const log: RunningService['log'] = [];
  const service = await createService({
    data,
    settings: { ...defaultSettings, ...own },
    log: pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    openSharedLimits,
    environment,
    effects: { now: typeof now === 'number' ? () => now : now },
    repeat: () => () => undefined,
  });
  const address = await service.listen({ host: '127.0.0.1', port: 0 });
  const get = (path: string, init?: RequestInit) =>
    fetch(address + path, {
      ...init,
      headers: { 'accept-encoding': 'identity', ...(init?.headers as Record<string, string>) },
    });
  const documentOf = async (path: string, status: number, init?: RequestInit) => {
    const response = await get(path, init);
    const body = await response.text();
    if (response.status !== status) throw new Error(`${path}: ${response.status} instead of ${status}: ${body}`);
    const document: unknown = JSON.parse(body);
    checkDescribed(path, status, document);
    return document;
  };
  return {
    service,
    address,
    log,
    get,
    json: (path, status = 200) => documentOf(path, status),
    post: (path, parameters, status = 200) =>
      documentOf(path, status, { method: 'POST', body: new URLSearchParams(parameters) }),
  };
}

/** The same, closed when the running test ends. */
export async function serviceForTest(...start: Parameters<typeof startService>): Promise<RunningService> {
  const running = await startService(...start);
  onTestFinished(() => running.service.close());
  return running;
}

/** Every answer of an operation that a test reads is one that the OpenAPI document describes. */
function checkDescribed(path: string, status: number, document: unknown): void {
  const candidates = operationsAt(new URL(path, 'http://host').pathname);
  if (candidates.length === 0) return;
  const schemas = candidates.map(({ variant, body, status: taken = 200 }) =>
    status === taken ? body : variant.errorBody,
  );
  const wrong = schemas
    .map((schema) => schema.safeParse(document))
    .flatMap(({ error }) => (error === undefined ? [] : [prettifyError(error)]));
  if (wrong.length === candidates.length)
    throw new Error(`GET ${path}: the body of this ${status} is not as described:\n${wrong.join('\n')}`);
}
