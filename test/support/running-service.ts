import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { defaultSettings } from '../../src/config/settings.ts';
import type { Settings } from '../../src/config/settings.ts';
import type { DataDirectory } from '../../src/config/data-directory.ts';
import { createService } from '../../src/serve/service.ts';
import type { Service } from '../../src/serve/service.ts';

export interface RunningService {
  service: Service;
  /** Such as `http://127.0.0.1:40123`. */
  address: string;
  /** Log lines written so far. */
  log: { level: number; msg: string; [field: string]: unknown }[];
  get(path: string, init?: RequestInit): Promise<Response>;
  /** The body as JSON; fails where the status is not the expected one. */
  json(path: string, status?: number): Promise<any>;
}

/** Starts a service on a free port of 127.0.0.1. It looks for news only when the test says so. The caller closes it. */
export async function startService(data: DataDirectory, own: Partial<Settings> = {}, now = Date.UTC(2026, 10, 20, 12, 30)): Promise<RunningService> {
  const log: RunningService['log'] = [];
  const service = await createService({
    data,
    settings: { ...defaultSettings, ...own },
    log: pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    effects: { now: () => now },
    repeat: () => () => undefined,
  });
  const address = await service.listen({ host: '127.0.0.1', port: 0 });
  const get = (path: string, init?: RequestInit) => fetch(address + path, init);
  return {
    service,
    address,
    log,
    get,
    async json(path, status = 200) {
      const response = await get(path);
      const body = await response.text();
      if (response.status !== status) throw new Error(`GET ${path}: ${response.status} instead of ${status}: ${body}`);
      return JSON.parse(body);
    },
  };
}

/** The same, closed when the running test ends. */
export async function serviceForTest(...start: Parameters<typeof startService>): Promise<RunningService> {
  const running = await startService(...start);
  onTestFinished(() => running.service.close());
  return running;
}
