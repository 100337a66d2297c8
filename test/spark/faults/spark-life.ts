import { readlinkSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { refresh } from '../../../pipelines/refresh.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { generate } from '../../../src/demo/generate/generate.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress, type Progress } from '../../../src/kit/logging/progress.ts';
import { publishedTables } from '../../fault/lives/published-tables.ts';
import { descendants, processes, type ProcessSeen } from '../cluster/process-tree.ts';

export const end = new Date('2026-11-18T12:00:00Z');
export const asOf = '2026-11-18T12:00:00Z';
const pollMilliseconds = 50;
const waitMilliseconds = 60_000;

/** Two data directories with the same logs: one is staged by Spark and meets faults, the other by DuckDB and none. */
export class SparkLife implements AsyncDisposable {
  readonly faulted: DataDirectory;
  readonly #twin: DataDirectory;
  readonly #folder: string;

  static async create(python: string, master: string, clicks: number): Promise<SparkLife> {
    const life = new SparkLife(await mkdtemp(join(tmpdir(), 'offerline-spark-life-')));
    for (const data of [life.faulted, life.#twin]) {
      await generate({ out: data.root, seed: 3, clicks, days: 3, end });
      // Nobody is there to be told.
      const { sites } = JSON.parse(await readFile(data.sitesFile, 'utf8')) as { sites: object[] };
      await writeFile(
        data.sitesFile,
        JSON.stringify({ sites: sites.map((site) => ({ ...site, postback: undefined })) }),
      );
    }
    const { settingsFile } = life.faulted;
    const resources = { executor_memory: '1g', driver_memory: '512m' };
    const settings = JSON.parse(await readFile(settingsFile, 'utf8')) as object;
    await writeFile(
      settingsFile,
      JSON.stringify({ ...settings, engine: { kind: 'spark', master, python, resources, time_limit_s: 600 } }),
    );
    return life;
  }

  private constructor(folder: string) {
    this.#folder = folder;
    this.faulted = new DataDirectory(join(folder, 'faulted'));
    this.#twin = new DataDirectory(join(folder, 'twin'));
  }

  /** A refresh of the directory that meets faults. */
  refresh({ progress = noProgress, stop }: { progress?: Progress; stop?: AbortSignal } = {}) {
    return refresh({ data: this.faulted, terminal: { logger: silent, progress }, asOf, stop }, clocked);
  }

  /** Tables whose rows differ from those of the life without faults, by name. */
  async differences(): Promise<string[]> {
    await refresh({ data: this.#twin, terminal: { logger: silent, progress: noProgress }, asOf }, clocked);
    const [expected, found] = [await publishedTables(this.#twin), await publishedTables(this.faulted)];
    return [...new Set([...expected.keys(), ...found.keys()])].flatMap((table) => {
      const [left, right] = [expected.get(table) ?? [], found.get(table) ?? []];
      const at = left.findIndex((row, index) => row !== right[index]);
      if (left.length === right.length && at === -1) return [];
      return [`${table}: ${left.length} rows expected, ${right.length} found; ${left[at]} is ${right[at]}`];
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const silent = createLogger({ write: () => true }, 'silent');
const clocked: Effects = { ...realEffects, now: () => end.getTime() };

/** Does something once Spark is in the middle of a job that is shown under a label. */
export function amidst(label: string, act: () => void): Progress & { readonly acted: boolean } {
  let current = '';
  let acted = false;
  return {
    start: (step) => void (current = step),
    advance: () => {
      if (acted || current !== label) return;
      acted = true;
      act();
    },
    finish: () => {},
    get acted() {
      return acted;
    },
  };
}

/** This process's Spark drivers, and the Java of each. */
export function drivers(): ProcessSeen[] {
  return driversOf(descendants(process.pid));
}

function driversOf(among: readonly ProcessSeen[]): ProcessSeen[] {
  return among.filter(({ command }) => command.includes('engine/spark/driver.py'));
}

/** Waits until no driver of a data directory is left, whoever started it, and no executor of the workers. */
export async function untilNoneIsLeft({ sparkLog }: DataDirectory, workers: readonly number[]): Promise<void> {
  const latest = performance.now() + waitMilliseconds;
  for (;;) {
    const all = processes();
    const ofDirectory = driversOf(all).filter(({ pid }) => errorsGoTo(pid) === sparkLog);
    const left = [...ofDirectory, ...workers.flatMap((worker) => descendants(worker, all))];
    if (left.length === 0) return;
    if (performance.now() > latest) throw new Error(`still there: ${left.map(({ command }) => command).join('\n')}`);
    await setTimeout(pollMilliseconds);
  }
}

/** The file that a process writes its errors to; undefined where it has ended. */
function errorsGoTo(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/2`);
  } catch {
    return undefined;
  }
}
