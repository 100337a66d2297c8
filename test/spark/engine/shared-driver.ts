import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, vi } from 'vitest';
import { SparkDriver } from '../../../src/fleet/spark/spark-driver.ts';
import { SparkEngine } from '../../../src/fleet/spark/spark-engine.ts';
import type { IngestInput } from '../../../src/pipeline/ingest/ingest-stage.ts';

/** One driver for all ingests of a test file: to start one takes longer than most of them. */
export class SharedDriver implements AsyncDisposable {
  readonly #driver: SparkDriver;
  readonly #folder: string;

  /**
   * `settings`: Spark's own, as an operator's `spark-defaults.conf` has them. `connect`: a Spark Connect server in
   * place of the shared cluster.
   */
  static async start(settings: Record<string, string> = {}, connect?: string): Promise<SharedDriver> {
    const { python, master } = inject('spark');
    const folder = await mkdtemp(join(tmpdir(), 'offerline-driver-'));
    if (Object.keys(settings).length > 0) {
      const lines = Object.entries(settings).map(([key, value]) => `${key} ${value}\n`);
      await writeFile(join(folder, 'spark-defaults.conf'), lines.join(''));
      vi.stubEnv('SPARK_CONF_DIR', folder);
    }
    const driver = await SparkDriver.start({
      python,
      master,
      connect,
      executorMemory: '1g',
      driverMemory: '512m',
      name: 'offerline tests',
      log: join(folder, 'driver.log'),
      timeLimitSeconds: 3600,
      executorWaitSeconds: 600,
      warn: () => undefined,
    });
    vi.unstubAllEnvs();
    return new SharedDriver(driver, folder);
  }

  private constructor(driver: SparkDriver, folder: string) {
    this.#driver = driver;
    this.#folder = folder;
  }

  readonly engine = this.engineIn();

  /** `sharedFolder`: what `shared_folder` names. */
  engineIn(sharedFolder?: string): NonNullable<IngestInput['engine']> {
    const drivers = {
      driver: () => Promise.resolve(this.#driver),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    return (run, connection) => new SparkEngine(run, connection, drivers, sharedFolder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true });
  }
}
