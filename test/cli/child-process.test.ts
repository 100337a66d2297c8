import { ChildProcess } from 'node:child_process';
import { expect, it } from 'vitest';
import { startChildCommand, type ChildEffects, type ListeningChild } from '../../src/cli/child-process.ts';
import { createLogger } from '../../src/kit/logging/log.ts';

const listens: ListeningChild = { address: 'http://127.0.0.1:9002' };

/** A child that runs, has ended, or could not be spawned, as the test says. */
class FakeChild extends ChildProcess {
  override readonly pid: number | undefined;

  constructor(pid: number | undefined) {
    super();
    this.pid = pid;
  }

  override kill(): boolean {
    return this.emit('exit', 0, null);
  }
}

/** A tracker that runs, whose next starts go as `spawns` says. */
async function keptTracker(spawns: (() => FakeChild)[]) {
  const test = { logged: '', again: 0, waits: [] as number[], elapse: () => {}, spawned: 0 };
  const first = new FakeChild(1);
  const effects: ChildEffects = {
    spawn: () => (test.spawned++ === 0 ? first : (spawns.shift() as () => FakeChild)()),
    later: (milliseconds, work) => {
      test.waits.push(milliseconds);
      test.elapse = work;
      return () => (test.elapse = () => {});
    },
  };
  const logger = createLogger({ write: (line) => (test.logged += line) });
  const starting = startChildCommand('track', logger, 9002, {}, () => test.again++, effects);
  first.emit('message', listens);
  const kept = await starting;
  return { test, first, kept };
}

const failure = (code: string) => Object.assign(new Error(`spawn node ${code}`), { code });

it('a child that could not be spawned, in either way, is started again after growing waits', async () => {
  const unspawned = new FakeChild(undefined);
  const running = new FakeChild(2);
  const { test, first, kept } = await keptTracker([
    () => unspawned,
    () => {
      throw failure('EMFILE');
    },
    () => running,
  ]);
  first.emit('exit', 1, null);
  test.elapse();
  unspawned.emit('error', failure('ENOENT'));
  test.elapse();
  test.elapse();
  running.emit('message', listens);
  await Promise.resolve();
  expect([test.spawned, test.waits, test.again]).toEqual([4, [1000, 2000, 4000], 1]);
  expect(test.logged).toMatch(/ENOENT.*could not be started; will retry[^]*EMFILE.*could not be started; will retry/);
  // What it cannot be sent is no end.
  running.emit('error', failure('EPIPE'));
  expect(test.waits).toHaveLength(3);
  await kept.stop();
});

it('start ends also while a child cannot be spawned', async () => {
  const unspawned = new FakeChild(undefined);
  const { test, first, kept } = await keptTracker([() => unspawned]);
  first.emit('exit', 1, null);
  test.elapse();
  unspawned.emit('error', failure('ENOENT'));
  await kept.stop();
  test.elapse();
  expect(test.spawned).toBe(2);
});
