import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { SparkDriver } from '../../../src/ingest/engine/spark/spark-driver.ts';
import { SparkEngine } from '../../../src/ingest/engine/spark/spark-engine.ts';
import type { IngestInput } from '../../../src/ingest/ingest-stage.ts';

/** One driver for all ingests of a test file: to start one takes longer than most of them. */
export class SharedDriver implements AsyncDisposable {
  readonly #driver: SparkDriver;
  readonly #folder: string;

  static async start(): Promise<SharedDriver> {
    const { python, master } = inject('spark');
    const folder = await mkdtemp(join(tmpdir(), 'offerline-driver-'));
    const driver = await SparkDriver.start({
      python,
      master,
      executorMemory: '1g',
      driverMemory: '512m',
      name: 'offerline tests',
      log: join(folder, 'driver.log'),
      timeLimitSeconds: 3600,
    });
    return new SharedDriver(driver, folder);
  }

  private constructor(driver: SparkDriver, folder: string) {
    this.#driver = driver;
    this.#folder = folder;
  }

  readonly engine: NonNullable<IngestInput['engine']> = (run, connection) =>
    new SparkEngine(run, connection, {
      driver: () => Promise.resolve(this.#driver),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true });
  }
}
