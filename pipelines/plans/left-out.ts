import { open } from 'node:fs/promises';
import { sha256Of } from '../../src/kit/files/read-through.ts';
import { knownLogs, latestCatalogDigests, logKey, type SeenFile } from '../../src/pipeline/ingest/ledger/ledger.ts';
import type { MappingSettings } from '../../src/pipeline/ingest/landing-mappings.ts';
import { lastChangeNs, unfinishedForNs } from '../../src/pipeline/landing/files/check-files.ts';
import { isUnpackedCsv } from '../../src/pipeline/landing/lines/to-ndjson.ts';
import type { LandingFile } from '../../src/pipeline/landing/landing-file.ts';
import { kyselyOn } from '../../src/pipeline/warehouse/kysely.ts';
import type { StateDatabase } from '../../src/pipeline/warehouse/database.ts';

/** Bytes that a plan reads at most; beyond, it trusts sizes, since a person waits for it. */
const maxBytesRead = 2 ** 30;

/**
 * Returns which new or changed files, in the order of their paths, a run would not ingest, and why: their bytes count
 * already, or they are not whole yet. Reads only files with the size of a known or another new file: the `digested`
 * ones. `now` in milliseconds since the epoch.
 */
export async function leftOut(
  state: StateDatabase,
  settings: MappingSettings,
  files: readonly LandingFile[],
  now: number,
): Promise<{ why: Map<string, string>; digested: SeenFile[] }> {
  const doneBeforeNs = BigInt(Math.trunc(now)) * 1_000_000n - unfinishedForNs;
  const unfinished = new Set<string>();
  for (const file of files)
    if (lastChangeNs(file) > doneBeforeNs && isUnpackedCsv(file) && !(await endsLine(file))) unfinished.add(file.path);
  const why = new Map<string, string>();
  const digested = await digestsOf(state, files);
  const logs = await knownLogs(state, settings, digested);
  const catalogs = await latestCatalogDigests(state, digested);
  const firstOf = new Map<string, string>();
  for (const file of digested) {
    if (unfinished.has(file.path)) continue;
    const keys = (['loaded', 'quarantined'] as const).map((status) => logKey(file, status, settings));
    const isKnown =
      file.kind === 'offers' ? catalogs.get(file.path) === file.sha256 : keys.some((each) => logs.has(each));
    const before = file.kind === 'offers' ? undefined : firstOf.get(keys[0] as string);
    if (isKnown) why.set(file.path, 'its bytes count already');
    else if (before !== undefined) why.set(file.path, `its bytes are those of ${before}`);
    else firstOf.set(keys[0] as string, file.path);
  }
  for (const path of unfinished) why.set(path, 'its last line has no end yet');
  return { why, digested };
}

/** Returns the files that have the size of another, with their digests. */
async function digestsOf({ connection }: StateDatabase, files: readonly LandingFile[]): Promise<SeenFile[]> {
  const sizeOf = ({ kind, bytes }: Pick<LandingFile, 'kind' | 'bytes'>) => `${kind} ${bytes}`;
  const counted = await kyselyOn(connection).selectFrom('ingest_files').select(['kind', 'bytes']).distinct().execute();
  const known = new Set(counted.map(sizeOf));
  const sizes = Map.groupBy(files, sizeOf);
  const alike = files.filter((file) => known.has(sizeOf(file)) || (sizes.get(sizeOf(file))?.length ?? 0) > 1);
  if (alike.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytesRead) return [];
  const digested = await Promise.all(
    alike.map(async (file) => ({ ...file, sha256: await sha256Of(file.absolutePath).catch(() => '') })),
  );
  // The run reports files that cannot be read.
  return digested.filter(({ sha256 }) => sha256 !== '');
}

async function endsLine({ absolutePath, bytes }: LandingFile): Promise<boolean> {
  if (bytes === 0) return true;
  try {
    await using file = await open(absolutePath);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, bytes - 1);
    return bytesRead === 0 || buffer[0] === 0x0a || buffer[0] === 0x0d;
  } catch {
    return true;
  }
}
