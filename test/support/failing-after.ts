import { realEffects, type Effects } from '../../src/kit/files/effects.ts';

/** Effects that do all as ever, and fail right after one step, as if the process had ended there. */
export function failingAfter(step: string): Effects {
  const done = <Result>(at: string, result: Result): Result => {
    if (at === step) throw new Error('made to fail');
    return result;
  };
  const { files } = realEffects;
  return {
    ...realEffects,
    perform: async (at, work) => done(at, await work()),
    files: {
      ...files,
      syncFile: async (path, at) => done(at, await files.syncFile(path, at)),
      rename: async (from, to, at) => done(at, await files.rename(from, to, at)),
      syncDirectory: async (path, at) => done(at, await files.syncDirectory(path, at)),
      writeFile: async (path, content, at, ...how) => done(at, await files.writeFile(path, content, at, ...how)),
      remove: async (path, at) => done(at, await files.remove(path, at)),
    },
  };
}
