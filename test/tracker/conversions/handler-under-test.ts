import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { ClickIds } from '../../../src/tracker/clicks/click-id.ts';
import { realEffects, type FileEffects } from '../../../src/kit/files/effects.ts';
import { Completions } from '../../../src/tracker/conversions/completions.ts';
import { ConversionHandler } from '../../../src/tracker/conversions/conversion-handler.ts';
import { ConversionLog } from '../../../src/tracker/conversions/conversion-log.ts';
import type { ConversionAnswer } from '../../../src/tracker/conversions/conversion-answer.ts';
import type { ConversionRequest } from '../../../src/tracker/conversions/guard/conversion-request.ts';
import { PostbackSources } from '../../../src/tracker/conversions/postback-sources.ts';
import { RefusedConversions } from '../../../src/tracker/conversions/refused-conversions.ts';
import type { OfferTerms } from '../../../src/tracker/conversions/report/check-report.ts';
import { ClickUsers } from '../../../src/tracker/conversions/report/click-users.ts';
import { KnownClicks, type NamedClick } from '../../../src/tracker/conversions/report/known-clicks.ts';
import type { RowSink } from '../../../src/tracker/logs/row-log.ts';

/** Long enough to draw no warning. */
export const token = 'a-token-that-north-keeps';
export const replayKey = 'the key of replays, of this test';
export const start = Date.parse('2026-11-18T10:00:00Z');

const clickKey = Buffer.alloc(32, 7);

/** Keeps rows in memory; a test may hold or fail them. */
export class MemorySink implements RowSink {
  readonly rows: string[] = [];
  /** Awaited before a row counts. */
  before: () => Promise<void> = () => Promise.resolve();

  async append(row: string): Promise<void> {
    await this.before();
    this.rows.push(row);
  }
}

export interface UnderTestOptions {
  /** The `postback` of source `north`. */
  postback?: object;
  /** Further keys of it. */
  source?: object;
  /** Further sources. */
  others?: readonly object[];
  settings?: object;
  offers?: ReadonlyMap<number, OfferTerms>;
  imported?: (clickId: string) => Promise<NamedClick | undefined>;
}

export const northOffer: OfferTerms = {
  source: 'north',
  payout: '2.5',
  events: [{ event_id: 'level-5', payout: '0.5' }],
};

/** The conversion handler over a data directory of its own, a sink in memory and a clock that the test moves. */
export class HandlerUnderTest implements AsyncDisposable {
  readonly data: DataDirectory;
  readonly sink = new MemorySink();
  readonly ids = new ClickIds([clickKey]);
  readonly logged: string[] = [];
  readonly recorded: string[] = [];
  now = start;
  files: FileEffects = realEffects.files;
  sources!: PostbackSources;
  refusals!: RefusedConversions;
  handler!: ConversionHandler;
  readonly #options: UnderTestOptions;

  private constructor(root: string, options: UnderTestOptions) {
    this.data = new DataDirectory(root);
    this.#options = options;
  }

  static async create(options: UnderTestOptions = {}): Promise<HandlerUnderTest> {
    const test = new HandlerUnderTest(await mkdtemp(join(tmpdir(), 'offerline-')), options);
    await mkdir(test.data.tracker, { recursive: true });
    await test.configure(options.postback ?? { token });
    await writeFile(test.data.settingsFile, JSON.stringify(options.settings ?? {}));
    await test.open();
    return test;
  }

  /** Writes `sources.json`. */
  async configure(postback: object): Promise<void> {
    const { source = {}, others = [] } = this.#options;
    const sources = [{ source: 'north', ...source, postback }, ...others];
    await writeFile(this.data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  }

  /** Opens all anew, as at a start: the logs say what was recorded. */
  async open(): Promise<void> {
    const log = createLogger({ write: (text) => this.logged.push(text) });
    this.sources = await PostbackSources.open(this.data, log);
    this.refusals = new RefusedConversions(this.data, log);
    const offers =
      this.#options.offers ??
      new Map([
        [7, northOffer],
        [8, { ...northOffer, source: 'south' }],
      ]);
    const imported = this.#options.imported ?? (() => Promise.resolve(undefined));
    const conversions = await ConversionLog.open(this.data, this.sink, this.now);
    const completions = await Completions.open(this.data, conversions, this.now, this.files, log);
    this.handler = new ConversionHandler({
      sources: this.sources,
      offers: () => ({ offerOf: (id) => offers.get(id) }),
      clicks: new KnownClicks(this.ids, imported),
      users: new ClickUsers(this.data, imported),
      conversions,
      completions,
      refusals: this.refusals,
      replayKey,
      now: () => this.now,
      log,
      onRecorded: ({ conversionId }) => this.recorded.push(conversionId),
    });
  }

  click(offerId = 7): string {
    return this.ids.mint(offerId, this.now);
  }

  /** A GET with the token, unless the test says otherwise. */
  get(fields: Record<string, string>, request: Partial<ConversionRequest> = {}): Promise<ConversionAnswer> {
    return this.receive({ query: new URLSearchParams({ token, ...fields }).toString(), ...request });
  }

  receive(request: Partial<ConversionRequest>): Promise<ConversionAnswer> {
    return this.handler.receive({
      source: 'north',
      method: 'GET',
      query: '',
      headers: {},
      body: Buffer.alloc(0),
      address: '198.51.100.7',
      ...request,
    });
  }

  get rows(): Record<string, unknown>[] {
    return this.sink.rows.map((row) => JSON.parse(row) as Record<string, unknown>);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.refusals.settled();
    await rm(this.data.root, { recursive: true });
  }
}

/** Status and word of an answer. */
export function saying({ status, body }: ConversionAnswer): [status: number, said: string] {
  const { status: said, error } = JSON.parse(body) as { status?: string; error?: string };
  return [status, said ?? error ?? ''];
}
