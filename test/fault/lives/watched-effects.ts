import { stat, truncate } from 'node:fs/promises';
import { realEffects, type Effects, type FileEffects } from '../../../src/kit/files/effects.ts';

/** A moment of a named step: before it is done, with half of a file written, or when it is done. */
export type StepMoment = 'before' | 'half' | 'after';

export interface StepPoint {
  /** Such as `event file of clicks: renamed`. */
  step: string;
  moment: StepMoment;
  /** The how-manyth time this step comes in the run, from 1. */
  occurrence: number;
}

/** Effects that tell of every step's moments; what `at` does there, such as throwing or dying, happens to the run. */
export function watchedEffects(wallClock: number, at: (point: StepPoint) => void): Effects {
  const times = new Map<string, number>();
  async function watch<T>(step: string, work: () => Promise<T>, half?: () => Promise<unknown>): Promise<T> {
    const occurrence = (times.get(step) ?? 0) + 1;
    times.set(step, occurrence);
    at({ step, moment: 'before', occurrence });
    if (half !== undefined) {
      await half();
      at({ step, moment: 'half', occurrence });
    }
    const result = await work();
    at({ step, moment: 'after', occurrence });
    return result;
  }
  const real = realEffects.files;
  // Each by its name, never `...real`: so the compiler asks for a new effect to be watched as well.
  const files: FileEffects = {
    makeDirectory: (path) => watch('folder: made', () => real.makeDirectory(path)),
    syncFile: (path, step) => watch(step, () => real.syncFile(path, step)),
    syncDirectory: (path, step) => watch(step, () => real.syncDirectory(path, step)),
    rename: (from, to, step) => watch(step, () => real.rename(from, to, step)),
    hardLink: (existing, path, step) => watch(step, () => real.hardLink(existing, path, step)),
    symbolicLink: (target, path, step) => watch(step, () => real.symbolicLink(target, path, step)),
    copyFile: (from, to, step) =>
      watch(
        step,
        () => real.copyFile(from, to, step),
        async () => {
          await real.copyFile(from, to, step);
          await truncate(to, Math.floor((await stat(from)).size / 2));
        },
      ),
    writeFile: (path, content, step, ...about) => {
      const half = content.slice(0, content.length / 2);
      return watch(
        step,
        () => real.writeFile(path, content, step, ...about),
        () => real.writeFile(path, half, step, ...about),
      );
    },
    remove: (path, step) => watch(step, () => real.remove(path, step)),
    openLog: async (path, step, isForced) => {
      const log = await watch(step, () => real.openLog(path, step, isForced));
      return {
        append: (bytes, appended) => {
          let half = 0;
          return watch(
            appended,
            async () => half + (await log.append(bytes.subarray(half), appended)),
            async () => (half = await log.append(bytes.subarray(0, bytes.length / 2), appended)),
          );
        },
        sync: (synced) => watch(synced, () => log.sync(synced)),
        truncate: (bytes, cut) => watch(cut, () => log.truncate(bytes, cut)),
        isAt: (where) => log.isAt(where),
        read: (from, bytes) => log.read(from, bytes),
        close: () => log.close(),
      };
    },
    freeBytes: (folder) => real.freeBytes(folder),
  };
  return { now: () => wallClock, files, perform: (step, work) => watch(step, work) };
}

export function samePoint(a: StepPoint, b: StepPoint): boolean {
  return a.step === b.step && a.moment === b.moment && a.occurrence === b.occurrence;
}
