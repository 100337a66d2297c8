import { execFileSync, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readlink, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { exitCode } from '../../src/kit/errors/errors.ts';
import { verifySnapshot } from '../../src/pipeline/snapshot/verify.ts';
import { launcher } from '../support/command-line.ts';
import { GrowingLanding } from './lives/growing-landing.ts';
import { refreshesInLittleMemory } from './little-memory.ts';
import { commandProblems } from './unwritable-commands.ts';
import { serviceProblems, startProblems } from './unwritable-service.ts';
import { differences, publishedTables } from './lives/published-tables.ts';

/**
 * Real shortages of a machine: a full disk, a folder that cannot be written, few file descriptors, small files, little
 * memory. A refresh must fail with a plain message and leave the published snapshot as it was; once there is enough,
 * the next one must publish what a run without any shortage publishes. A service that is started on a disk that takes
 * nothing must serve what there is. Whole refreshes of a million clicks follow, in little memory, which has to be
 * enough. Prints a line for each and "N passed, N failed".
 */

/** The clock is the machine's here. */
const published = (data: DataDirectory) =>
  publishedTables(data, { except: ['ingested_at', 'newest_ingested_at', 'rejected_at', 'changed_at'] });
const landing = new GrowingLanding(5, 3);
const mebibyte = 1024 * 1024;
const diskBytes = 96 * mebibyte;

interface Shortage {
  name: string;
  /** What a shell does before it becomes the refresh. */
  shell?: string;
  /** Brings the shortage about; gives what ends it. */
  begin?: (data: DataDirectory) => Promise<() => Promise<void>>;
  told: RegExp;
  /** So little that a run may do without what is missing. */
  mayPass?: boolean;
}

const disk = await mkdtemp(join(tmpdir(), 'offerline-disk-'));

function mounted(...options: string[]): void {
  execFileSync('mount', options, { stdio: 'pipe' });
}

/** Fills the disk up to so many bytes. */
function leaving(bytes: number): NonNullable<Shortage['begin']> {
  return async () => {
    const { bavail, bsize } = await statfs(disk);
    await writeFile(join(disk, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
    return () => rm(join(disk, 'ballast'));
  };
}

const setting =
  (duckdb: object): NonNullable<Shortage['begin']> =>
  async (data) => {
    await writeFile(data.settingsFile, JSON.stringify({ ...landing.settings, duckdb }));
    return () => landing.prepare(data);
  };

const readOnlyDisk = async (): Promise<() => Promise<void>> => {
  mounted('-o', 'remount,ro', disk);
  return async () => mounted('-o', 'remount,rw', disk);
};

/** Takes all inodes, too. */
const noFiles = async (data: DataDirectory): Promise<() => Promise<void>> => {
  const end = await leaving(0)(data);
  const folder = join(disk, 'ballast-of-names');
  await mkdir(folder);
  for (let file = 0, isFull = false; !isFull; file++)
    isFull = await writeFile(join(folder, String(file)), '').then(
      () => false,
      () => true,
    );
  return async () => {
    await rm(folder, { recursive: true });
    await end();
  };
};

const unwritable: [name: string, begin: NonNullable<Shortage['begin']>][] = [
  ['a full disk', leaving(0)],
  ['a disk that can hold no file more', noFiles],
  ['a disk that cannot be written', readOnlyDisk],
];

const shortages: Shortage[] = [
  ...[0, 256 * 1024, mebibyte, 4 * mebibyte, 8 * mebibyte].map((bytes): Shortage => ({
    name: `a disk with ${bytes / 1024} KiB of room`,
    begin: leaving(bytes),
    told: /The disk is full/,
    mayPass: bytes > mebibyte,
  })),
  {
    name: 'a disk that cannot be written',
    told: /the file system is read-only/,
    begin: readOnlyDisk,
  },
  ...[24, 36, 48].map((files): Shortage => ({
    name: `${files} file descriptors`,
    shell: `ulimit -n ${files}`,
    told: /Too many files are open/,
    mayPass: files > 30,
  })),
  {
    name: 'files of 128 KiB at most',
    shell: 'ulimit -f 128',
    told: /may not grow that large|The disk failed to read or write/,
  },
  { name: 'memory_limit of 1 MiB', begin: setting({ memory_limit: '1MiB' }), told: /too little memory/ },
  {
    name: 'memory_limit of 24 MiB',
    begin: setting({ memory_limit: '24MiB' }),
    told: /too little memory/,
    mayPass: true,
  },
];

/** Runs `run refresh` as a process of its own, behind a shell's limits. */
async function refresh(
  data: DataDirectory,
  round: number,
  shell = ':',
): Promise<{ code: number | null; told: string }> {
  const child = spawn(
    'sh',
    [
      '-c',
      `${shell} && exec "$@"`,
      'sh',
      launcher.executable,
      ...launcher.words,
      'run',
      'refresh',
      '--as-of',
      landing.asOf(round),
    ],
    {
      env: { ...process.env, OFFERLINE_DATA: data.root },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, told }));
  });
}

async function good(data: DataDirectory, round: number): Promise<void> {
  const { code, told } = await refresh(data, round);
  if (code !== 0) throw new Error(`a refresh without shortage ended with ${code}: ${told}`);
}

async function restored(data: DataDirectory, saved: string): Promise<void> {
  await rm(data.root, { recursive: true, force: true });
  await cp(saved, data.root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
}

async function problemsOf(shortage: Shortage, saved: string, expected: Map<string, string[]>): Promise<string[]> {
  const data = new DataDirectory(join(disk, 'data'));
  await restored(data, saved);
  const before = await readlink(data.current);
  const end = await shortage.begin?.(data);
  let ended: Awaited<ReturnType<typeof refresh>>;
  try {
    ended = await refresh(data, 1, shortage.shell);
  } finally {
    await end?.();
  }
  const problems: string[] = [];
  if (ended.code === 0 && !shortage.mayPass) problems.push('the run passed');
  if (ended.code !== 0) {
    if (ended.code !== exitCode.failed) problems.push(`it ended with ${ended.code}`);
    if (!shortage.told.test(ended.told)) problems.push('the shortage was not told');
    if (/\n\s+at |"level":"error".*"stack"/.test(ended.told)) problems.push('a stack was told');
    if (problems.length > 0) problems.push(ended.told);
    if ((await readlink(data.current)) !== before) problems.push('the published snapshot changed');
  }
  await verifySnapshot(join(data.published, await readlink(data.current)));
  await good(data, 1);
  problems.push(...differences(expected, await published(data)));
  if (problems.length === 0)
    console.log(
      `passed: ${shortage.name}: ${ended.code === 0 ? 'enough for the run' : (shortage.told.exec(ended.told)?.[0] ?? '')}`,
    );
  return problems;
}

/** The service started while the disk takes nothing: where it never served before, and where it did. */
async function problemsOfService(begin: NonNullable<Shortage['begin']>, saved: string): Promise<string[]> {
  const data = new DataDirectory(join(disk, 'data'));
  const problems: string[] = [];
  await restored(data, saved);
  for (const isFirst of [true, false]) {
    if (!isFirst) await serviceProblems(data);
    const end = await begin(data);
    try {
      for (const problem of await serviceProblems(data))
        problems.push(`${isFirst ? 'the first time' : 'again'}: ${problem}`);
    } finally {
      await end();
    }
  }
  return problems;
}

/** What an operator asks after a refresh that failed where its failure can be noted nowhere. */
async function problemsOfCommands(begin: NonNullable<Shortage['begin']>, saved: string): Promise<string[]> {
  const data = new DataDirectory(join(disk, 'data'));
  await restored(data, saved);
  const end = await begin(data);
  try {
    await refresh(data, 1);
    return await commandProblems(data);
  } finally {
    await end();
  }
}

/** All of `start`; the keys of clicks are there since the first publish. */
async function problemsOfStart(begin: NonNullable<Shortage['begin']>, saved: string): Promise<string[]> {
  const data = new DataDirectory(join(disk, 'data'));
  await restored(data, saved);
  const end = await begin(data);
  let isOver = false;
  const endOnce = async () => {
    if (!isOver) await end();
    isOver = true;
  };
  try {
    return await startProblems(data, endOnce);
  } finally {
    await endOnce();
  }
}

let [passed, failed] = [0, 0];
function count(name: string, problems: string[]): void {
  if (problems.length === 0) passed++;
  else failed++;
  if (problems.length > 0) console.log(`FAILED: ${name}\n  ${problems.join('\n  ')}`);
}
let isMounted = false;
try {
  mounted('-t', 'tmpfs', '-o', `size=${diskBytes},nr_inodes=20000`, 'tmpfs', disk);
  isMounted = true;
} catch (error) {
  console.log(
    `skipped: no disk of our own can be mounted, which takes root on Linux: ${(error as Error).message.split('\n')[0]}`,
  );
}
const work = await mkdtemp(join(tmpdir(), 'offerline-machine-'));
try {
  if (isMounted) {
    const data = new DataDirectory(join(disk, 'data'));
    await mkdir(data.root);
    await landing.prepare(data);
    await landing.land(data, 0);
    await good(data, 0);
    await landing.land(data, 1);
    const saved = join(work, 'saved');
    await cp(data.root, saved, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await good(data, 1);
    const expected = await published(data);
    for (const [name, begin] of unwritable) {
      const problems = await problemsOfService(begin, saved).catch((error: unknown) => [(error as Error).stack ?? '']);
      if (problems.length === 0) console.log(`passed: the service, started on ${name}`);
      count(`the service, started on ${name}`, problems);
      const unsaid = await problemsOfCommands(begin, saved).catch((error: unknown) => [(error as Error).stack ?? '']);
      if (unsaid.length === 0) console.log(`passed: status and doctor, on ${name}`);
      count(`status and doctor, on ${name}`, unsaid);
      const down = await problemsOfStart(begin, saved).catch((error: unknown) => [(error as Error).stack ?? '']);
      if (down.length === 0) console.log(`passed: start, on ${name}`);
      count(`start, on ${name}`, down);
    }
    for (const shortage of shortages) {
      const problems = await problemsOf(shortage, saved, expected).catch((error: unknown) => [
        (error as Error).stack ?? '',
      ]);
      count(shortage.name, problems);
    }
  }
  for await (const [name, problems] of refreshesInLittleMemory(work)) {
    if (problems.length === 0) console.log(`passed: ${name}`);
    count(name, problems);
  }
} finally {
  if (isMounted) execFileSync('umount', [disk]);
  await rm(disk, { recursive: true, force: true });
  await rm(work, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? exitCode.done : exitCode.failed;
