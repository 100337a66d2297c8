import { existsSync } from 'node:fs';
import { mkdtemp, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { examine } from '../../../src/pipeline/doctor/doctor.ts';
import type { Finding } from '../../../src/pipeline/doctor/finding.ts';
import { exitCode, OfferlineError } from '../../../src/kit/errors/errors.ts';
import { machineFailure } from '../../../src/kit/errors/machine-failure.ts';
import type { Random } from '../../../src/demo/generate/network/random.ts';
import { verifySnapshot } from '../../../src/pipeline/snapshot/verify.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { damageState } from './damage-state.ts';
import { GrowingLanding, wallClock } from './growing-landing.ts';
import { killedRefresh } from './killed-refresh.ts';
import { pipelines, type PipelineName } from './pipelines.ts';
import { missingFiles } from '../../support/lake.ts';
import { differences, publishedAndHandedOver } from './published-tables.ts';
import { samePoint, watchedEffects, type StepPoint } from './watched-effects.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

/** How the machine fails a call. */
export const failingCodes = ['ENOSPC', 'EIO', 'EMFILE'] as const;

export interface Fault {
  /**
   * `kill`: SIGKILL of a process of its own; `damage`: the same, and then bytes of the state or its log go bad; `fail`:
   * the call throws with a code of the operating system.
   */
  kind: 'kill' | 'damage' | 'fail';
  /** Null: at a moment that nobody chose. */
  point: StepPoint | null;
}

/** Picks faults from all points of a run; none where it has none that could fail. */
export type ChooseFaults = (points: readonly StepPoint[]) => Fault[];

const roundsPerMaintenance = 3;

/** A data directory that lives through faults, beside its twin that meets none and gets the same files. */
export class FaultedLife implements AsyncDisposable {
  readonly #landing: GrowingLanding;
  readonly #folder: string;
  readonly #faulted: DataDirectory;
  readonly #twin: DataDirectory;

  private constructor(seed: number, rounds: number, folder: string) {
    this.#landing = new GrowingLanding(seed, rounds);
    this.#folder = folder;
    this.#faulted = new DataDirectory(join(folder, 'faulted'));
    this.#twin = new DataDirectory(join(folder, 'twin'));
  }

  static async create(seed: number, rounds: number): Promise<FaultedLife> {
    const life = new FaultedLife(seed, rounds, await mkdtemp(join(tmpdir(), 'offerline-fault-')));
    for (const data of [life.#faulted, life.#twin]) await life.#landing.prepare(data);
    return life;
  }

  /**
   * One round: files land, a refresh meets the faults that `choose` picks from all points of this round's refresh, one
   * after the other, then an ordinary refresh runs; in some rounds the same with a maintenance run. Returns what is
   * wrong afterwards, a line each.
   */
  async round(round: number, random: Random, choose: ChooseFaults): Promise<string[]> {
    for (const data of [this.#faulted, this.#twin]) await this.#landing.land(data, round);
    const asOf = this.#landing.asOf(round);
    const wrong = await this.#meet('refresh', asOf, random, choose);
    wrong.push(...differences(await publishedAndHandedOver(this.#twin), await publishedAndHandedOver(this.#faulted)));
    // What it rewrites is published, and compared, with the next round.
    if (round % roundsPerMaintenance === roundsPerMaintenance - 1)
      wrong.push(...(await this.#meet('maintenance', asOf, random, choose)));
    return wrong;
  }

  async #meet(pipeline: PipelineName, asOf: string, random: Random, choose: ChooseFaults): Promise<string[]> {
    const points: StepPoint[] = [];
    const began = performance.now();
    await pipelines[pipeline](
      { data: this.#twin, terminal: silent, asOf },
      watchedEffects(wallClock, (point) => void points.push(point)),
    );
    const duration = performance.now() - began;
    const wrong: string[] = [];
    const faults = choose(points);
    for (const fault of faults) {
      if (fault.kind === 'fail') wrong.push(...(await this.#fail(pipeline, asOf, fault.point, random)));
      else wrong.push(...(await this.#kill(pipeline, asOf, fault.point, random, duration)));
      if (fault.kind === 'damage') await damageState(this.#faulted, random);
      wrong.push(...(await this.#unserved()));
    }
    await this.#recover(pipeline, asOf);
    // Damage that no run came upon shows when the state is copied, and to the doctor.
    if (existsSync(this.#faulted.damageNote)) await this.#recover(pipeline, asOf);
    if (
      faults.some(({ kind }) => kind === 'damage') &&
      (await this.#examine(false)).some(({ check }) => check === 'state')
    ) {
      await this.#examine(true);
      await this.#recover('refresh', asOf);
    }
    const troubles = (await this.#examine(false)).map(
      ({ subject, problem }) => `the doctor says: ${subject} ${problem}`,
    );
    return [...wrong, ...(await this.#unserved()), ...troubles];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** What a schedule does: damage that comes up in the middle of a run takes one more. */
  async #recover(pipeline: PipelineName, asOf: string): Promise<void> {
    const ordinary = () =>
      pipelines[pipeline](
        { data: this.#faulted, terminal: silent, asOf },
        watchedEffects(wallClock, () => undefined),
      );
    await ordinary().catch((error: unknown) => {
      if (!existsSync(this.#faulted.damageNote)) throw error;
      return ordinary();
    });
  }

  async #kill(
    pipeline: PipelineName,
    asOf: string,
    killAt: StepPoint | null,
    random: Random,
    duration: number,
  ): Promise<string[]> {
    const { code, signal, told } = await killedRefresh(
      { pipeline, root: this.#faulted.root, asOf, wallClock, killAt },
      killAt === null ? random.next() * duration * 1.2 : undefined,
    );
    // A run after the first has less to do, and one that is killed at a random moment may be done before, or have found
    // damage.
    return signal === 'SIGKILL' || code === 0 || existsSync(this.#faulted.damageNote)
      ? []
      : [`a refresh to be killed ended by itself with ${code}: ${told}`];
  }

  async #fail(pipeline: PipelineName, asOf: string, failAt: StepPoint | null, random: Random): Promise<string[]> {
    const code = random.pick(failingCodes);
    let failed = false;
    const effects = watchedEffects(wallClock, (point) => {
      if (failAt === null || !samePoint(point, failAt)) return;
      failed = true;
      throw Object.assign(new Error(`${code}: made to fail at ${point.step}`), { code });
    });
    try {
      await pipelines[pipeline]({ data: this.#faulted, terminal: silent, asOf }, effects);
      return failed && !helpful.has(failAt?.step.split(':')[0] ?? '')
        ? [`a refresh whose call failed at ${failAt?.step} with ${code} said that it was done`]
        : [];
    } catch (error) {
      const told = error instanceof OfferlineError ? error : machineFailure(error);
      if (told?.exitCode === exitCode.failed && told.message.includes(safeWords)) return [];
      return [`${code} at ${failAt?.step} was not told plainly: ${(error as Error).stack}`];
    }
  }

  /** What an operator would find wrong. */
  async #examine(repair: boolean): Promise<Finding[]> {
    const opening = {
      data: this.#faulted,
      settings: { duckdb: {} },
      logger: silent.logger,
      effects: watchedEffects(wallClock, () => undefined),
    };
    const { findings } = await examine(opening, { deep: true, repair, progress: noProgress });
    return findings.filter(({ level }) => level === 'trouble');
  }

  /** What a service would find wrong with the published snapshot, where there is one, and analysts with the lake. */
  async #unserved(): Promise<string[]> {
    const current = await readlink(this.#faulted.current).catch(() => undefined);
    if (current === undefined) return [];
    try {
      await verifySnapshot(join(this.#faulted.published, current));
      return (await missingFiles(this.#faulted)).map((path) => `the lake names ${path}, which is not there`);
    } catch (error) {
      return [(error as Error).message];
    }
  }
}

/** Steps that a run does for the comfort of others and goes on without. */
const helpful = new Set(['recent runs', 'pipeline outcome']);

const safeWords = 'What was published stays as it was';
