import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode, WarehouseBusyError } from '../../../src/kit/errors/errors.ts';
import { acquireWriterLock, readWarehouseHolder } from '../../../src/pipeline/runs/lock.ts';
import type { LockEffects, LockRequest, WriterLock } from '../../../src/pipeline/runs/lock.ts';

let data: DataDirectory;
let messages: string[];

beforeEach(async () => {
  data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-')));
  messages = [];
});

afterEach(() => rm(data.root, { recursive: true, force: true }));

/** Clocks that only waiting moves; `during` happens within the wait with that number. */
class StillClock implements LockEffects {
  milliseconds = Date.parse('2026-11-18T10:00:00Z');
  waited = 0;
  waits = 0;
  readonly #during: Map<number, () => void>;
  constructor(during: [wait: number, event: () => void][] = []) {
    this.#during = new Map(during);
  }
  now(): number {
    return this.milliseconds;
  }
  steady(): number {
    return this.waited;
  }
  async wait(milliseconds: number): Promise<void> {
    this.milliseconds += milliseconds;
    this.waited += milliseconds;
    this.waits += 1;
    this.#during.get(this.waits)?.();
  }
}

function lock(request: Partial<LockRequest> = {}, clock = new StillClock()): Promise<WriterLock> {
  return acquireWriterLock(
    data,
    { command: 'run refresh', waitSeconds: 0, onWaiting: (message) => void messages.push(message), ...request },
    clock,
  );
}

/** Another process, with `data` and the lock's functions; it prints a line when what the test waits for has come. */
async function otherProcess(work: string) {
  const lockModule = new URL('../../../src/pipeline/runs/lock.ts', import.meta.url).href;
  const directoryModule = new URL('../../../src/kit/config/data-directory.ts', import.meta.url).href;
  const program = `
    const { acquireWriterLock, readWarehouseHolder } = await import(${JSON.stringify(lockModule)});
    const { DataDirectory } = await import(${JSON.stringify(directoryModule)});
    const data = new DataDirectory(${JSON.stringify(data.root)});
    ${work}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const ended = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => {
      throw new Error(`the other process ended: ${complaints}`);
    }),
  ]);
  return {
    pid: child.pid,
    complaints: () => complaints,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const takesAndKeeps = `
  await acquireWriterLock(data, { command: 'backfill reports', waitSeconds: 0, onWaiting() {} });
  console.log('held');
  setInterval(() => undefined, 1000);`;

describe('the writer lock', () => {
  it('is free at first, names its holder while held, and is free again after release', async () => {
    const held = await lock();
    expect(readWarehouseHolder(data)).toEqual({
      pid: process.pid,
      command: 'run refresh',
      since: '2026-11-18T10:00:00Z',
    });
    held.release();
    expect(readWarehouseHolder(data)).toBeUndefined();
    expect(existsSync(data.lockFile)).toBe(true);
    held.release();
    (await lock()).release();
    expect(messages).toEqual([]);
  });

  it.skipIf(!existsSync('/dev/full'))(
    'is held on a full disk, where nothing is written and its holder has no name',
    async () => {
      await mkdir(data.warehouse);
      await writeFile(`${data.lockFile}.json`, '{"pid": 1, "command": "one that was killed", "since": "long ago"}');
      await symlink('/dev/full', `${data.lockFile}.json.tmp`);
      const held = await lock();
      expect(await readdir(data.warehouse)).toEqual(['writer.lock']);
      await expect(lock()).rejects.toThrow('another process');
      held.release();
      (await lock()).release();
    },
  );

  it('is free after a release whose disk does not remove the name of its holder', async () => {
    const held = await lock();
    const name = `${data.lockFile}.json`;
    await rm(name);
    // A folder cannot be removed as a file.
    await mkdir(name);
    held.release();
    expect(readWarehouseHolder(data)).toBeUndefined();
    await rm(name, { recursive: true });
    (await lock()).release();
  });

  it('keeps out a second one in the same process', async () => {
    const held = await lock();
    await expect(lock()).rejects.toThrow(WarehouseBusyError);
    held.release();
  });

  it('waits for its turn, saying so once', async () => {
    const held = await lock({ command: 'run publish' });
    const clock = new StillClock([[3, () => held.release()]]);
    const next = await lock({ waitSeconds: 60 }, clock);
    expect(clock.waits).toBe(3);
    expect(messages).toEqual([
      `Waiting up to 60 s for the warehouse: "run publish" (process ${process.pid}, since 2026-11-18T10:00:00Z) holds it.`,
    ]);
    next.release();
  });

  it('gives up after the time asked for, naming the holder', async () => {
    const held = await lock({ command: 'run publish' });
    const clock = new StillClock();
    const start = clock.now();
    const failure = await lock({ waitSeconds: 1.5 }, clock).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WarehouseBusyError);
    expect(failure).toMatchObject({
      exitCode: exitCode.busy,
      message: expect.stringContaining(`"run publish" (process ${process.pid}`) as string,
    });
    expect(clock.now() - start).toBe(1500);
    expect(messages).toHaveLength(1);
    held.release();
  });

  it.each([
    ['back', -3_000],
    ['ahead', 3_000],
  ])('is waited for as long as asked for where the clock is set %s meanwhile', async (_where, by) => {
    const held = await lock();
    const clock = new StillClock([[2, () => (clock.milliseconds += by)]]);
    await expect(lock({ waitSeconds: 0.6 }, clock)).rejects.toThrow('stayed busy for 0.6 s');
    expect(clock.waits).toBe(3);
    held.release();
  });

  it('is held against other processes, and free at once when its holder is killed', async () => {
    const other = await otherProcess(takesAndKeeps);
    try {
      await expect(lock()).rejects.toThrow(`"backfill reports" (process ${other.pid}`);
      expect(readWarehouseHolder(data)?.pid).toBe(other.pid);
      await expect(lock()).rejects.toThrow(WarehouseBusyError);
    } finally {
      await other.kill();
    }
    // Its name is still there.
    expect(readWarehouseHolder(data)).toBeUndefined();
    const held = await lock();
    expect(readWarehouseHolder(data)?.pid).toBe(process.pid);
    held.release();
    expect(other.complaints()).toBe('');
  });

  it('is taken at once, however often others look who holds it', async () => {
    (await lock()).release();
    const other = await otherProcess(`console.log('looks'); for (;;) readWarehouseHolder(data);`);
    try {
      for (let times = 0; times < 50; times++) (await lock()).release();
    } finally {
      await other.kill();
    }
    expect(messages).toEqual([]);
  });

  it('is seen by who must not write, and makes no file by that', async () => {
    expect(readWarehouseHolder(data)).toBeUndefined();
    expect(existsSync(data.lockFile)).toBe(false);
  });

  it.each([
    ['zeros', Buffer.alloc(4096)],
    ['other bytes', Buffer.from('what a loss of power left here, and no database'.repeat(99))],
  ])('is taken over %s in its file, and holds', async (_what, bytes) => {
    await mkdir(dirname(data.lockFile), { recursive: true });
    await writeFile(data.lockFile, bytes);
    expect(readWarehouseHolder(data)).toBeUndefined();
    const held = await lock();
    await expect(lock()).rejects.toThrow(WarehouseBusyError);
    held.release();
    (await lock()).release();
  });
});
