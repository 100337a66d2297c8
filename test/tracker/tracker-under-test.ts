import { mkdtempSync, rmSync, readFileSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { parseSettings, type Settings } from '../../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../../src/kit/files/effects.ts';
import { ownLogs } from '../../src/tracker/logs/log-names.ts';
import { writeRoutes } from '../../src/pipeline/routes/publish-routes.ts';
import type { Route } from '../../src/pipeline/routes/routes-file.ts';
import { createTracker, type Tracker } from '../../src/tracker/tracker.ts';
import type { EventKind } from '../../src/kit/vocabulary/values.ts';

export const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';
export const start = Date.UTC(2026, 10, 20, 12, 0);
export const secret = 'a-secret-of-the-site-0123456789';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An active offer for everybody; `own` changes it. */
export function route(own: Partial<Route> & { offer_id: number }): Route {
  return {
    source: 'north',
    external_id: `n-${own.offer_id}`,
    status: 'active',
    payout: '1',
    events: [],
    destination_url: 'https://advertiser.example/?c={click_id}',
    countries: [],
    devices: [],
    categories: [],
    formats: ['offerwall'],
    android_min_os: null,
    ios_min_os: null,
    daily_cap: null,
    daily_click_cap: null,
    ...own,
  };
}

export interface TrackerSetUp {
  routes?: Route[];
  sites?: object[];
  sources?: object[];
  settings?: object;
  files?: Partial<Effects['files']>;
  /** The data directory of a pipeline, which writes its routes and removes it. Default: one of its own. */
  data?: DataDirectory;
}

/** A tracker on a free port, over a data directory of its own. It does nothing by itself until the test says so. */
export class TrackerUnderTest implements AsyncDisposable {
  readonly data: DataDirectory;
  readonly #setUp: TrackerSetUp;
  /** The clock. Milliseconds since the epoch. */
  now = start;
  /** Lines of the log. */
  readonly logged: string[] = [];
  /** Number of times that the tracker ended the process. */
  ended = 0;
  address = '';
  /** Tasks that the tracker repeats, with the milliseconds in between. */
  readonly repeated = new Map<() => void, number>();
  #tracker: Tracker | undefined;
  #snapshot = 0;

  private constructor(setUp: TrackerSetUp) {
    this.data = setUp.data ?? new DataDirectory(mkdtempSync(join(tmpdir(), 'offerline-tracker-')));
    this.#setUp = setUp;
  }

  static async start(setUp: TrackerSetUp = {}): Promise<TrackerUnderTest> {
    const test = new TrackerUnderTest(setUp);
    if (setUp.data === undefined || setUp.sites !== undefined)
      test.writeSites(setUp.sites ?? [{ site_key: 'one', site_secret: secret }]);
    if (setUp.sources !== undefined)
      writeFileSync(test.data.sourcesFile, JSON.stringify({ sources: setUp.sources }), { mode: 0o600 });
    if (setUp.routes !== undefined) await test.publish(setUp.routes);
    await test.restart();
    return test;
  }

  get tracker(): Tracker {
    if (this.#tracker === undefined) throw new Error('the tracker was stopped');
    return this.#tracker;
  }

  get settings(): Settings {
    return parseSettings(JSON.stringify(this.#setUp.settings ?? {}), 'offerline.json');
  }

  writeSites(sites: object[]): void {
    writeFileSync(this.data.sitesFile, JSON.stringify({ sites }));
  }

  async publish(routes: Route[]): Promise<void> {
    const lines = routes.map((each) => Buffer.from(`${JSON.stringify(each)}\n`));
    const about = { snapshot_id: `snapshot-${++this.#snapshot}`, as_of: new Date(this.now).toISOString() };
    await writeRoutes(this.data, about, lines, realEffects.files);
  }

  /** Stops it, and starts another on the same directory. */
  async restart(): Promise<void> {
    await this.stop();
    this.#tracker = await createTracker({
      data: this.data,
      settings: this.settings,
      log: pino({ level: 'debug' }, { write: (line: string) => void this.logged.push(line) }),
      effects: { now: () => this.now, files: { ...realEffects.files, ...this.#setUp.files } },
      repeat: (task, milliseconds) => {
        this.repeated.set(task, milliseconds);
        return () => void this.repeated.delete(task);
      },
      end: () => void this.ended++,
    });
    this.address = await this.#tracker.listen({ host: '127.0.0.1', port: 0 });
  }

  async stop(): Promise<void> {
    await this.#tracker?.close();
    this.#tracker = undefined;
  }

  /** Lets so much time go by, and the tracker do what it does by itself within it. */
  elapse(milliseconds: number): void {
    this.now += milliseconds;
    for (const [task, every] of this.repeated) if (every <= milliseconds) task();
  }

  /** Asks the tracker again and again until something holds; false where it never does. */
  async comesTo(holds: () => boolean | Promise<boolean>): Promise<boolean> {
    for (let asked = 0; asked < 1000; asked++) {
      if (await holds()) return true;
      await this.ask('/healthz');
    }
    return false;
  }

  /** Follows no redirect, and sends path and query as they stand. */
  ask(path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const sent = request(
      this.address,
      { path, method, headers: { 'user-agent': chrome, ...headers }, agent: false },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => void chunks.push(chunk));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  /** A click of a user, by default each another one. */
  click(offerId: number, user: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask(`/redirect/manual-offer/${offerId}/user/${user}/site/one`, headers);
  }

  /** Status of a click, with the reason of its refusal as JSON has it. */
  async outcome(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<string> {
    const {
      status,
      headers: answered,
      body,
    } = await this.ask(path, { accept: 'application/json', ...headers }, method);
    if (answered.location !== undefined) return `${status}`;
    return body === '' ? `${status}` : `${status} ${(JSON.parse(body) as { error: string }).error}`;
  }

  /** The rows that landing would find now, after the tracker has handed over what it has. */
  rows(kind: EventKind = 'clicks'): Record<string, unknown>[] {
    return ownLogs(this.data, kind).flatMap(({ path }) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    );
  }

  async metric(name: string): Promise<number | undefined> {
    const { body } = await this.ask('/metrics');
    const line = body.split('\n').find((each) => each.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    if (this.#setUp.data === undefined) rmSync(this.data.root, { recursive: true });
  }
}

/** The click id that a 302 of the destination above carries. */
export function clickIdOf({ headers }: Answer): string {
  return /[?&]c=([^&#]*)/.exec(headers.location ?? '')?.[1] ?? '';
}
