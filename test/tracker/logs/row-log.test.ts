import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NotRecordedError } from '../../../src/tracker/logs/row-log.ts';
import { LogUnderTest, noRoom } from './log-under-test.ts';

const count = (steps: string[], step: string) => steps.filter((each) => each === step).length;

it('rows that come together go to the disk together, and are answered for when they are there', async () => {
  await using test = new LogUnderTest();
  const onDisk = () => Object.values(test.files).join('').split('\n').length - 1;
  await Promise.all(
    Array.from({ length: 500 }, (_, n) => test.log.append(`row ${n}`).then(() => expect(onDisk()).toBe(500))),
  );
  expect([count(test.steps, 'appended'), test.forced]).toEqual([1, [true]]);
  // The file's name is on the disk before its first row is answered for.
  expect(test.steps.indexOf('folder of a new one synced')).toBeLessThan(test.steps.indexOf('appended'));
  expect(Object.values(test.files)[0]?.split('\n')).toHaveLength(501);
});

it('rows gather while those before them are on their way', async () => {
  const held = Promise.withResolvers<void>();
  await using test = new LogUnderTest({ before: (step) => (step === 'appended' ? held.promise : undefined) });
  const first = test.log.append('first');
  while (!test.steps.includes('appended')) await setImmediate();
  const rest = Promise.all(['second', 'third'].map((row) => test.log.append(row)));
  expect(test.log.waiting).toBe(3);
  held.resolve();
  await Promise.all([first, rest]);
  expect(count(test.steps, 'appended')).toBe(2);
});

it('a file is handed over after a minute, with the day, and at a stop; never an empty one', async () => {
  await using test = new LogUnderTest();
  const from = test.now;
  await test.log.append('a');
  test.now = from + 59_999;
  await test.log.tick();
  expect(test.files).toEqual({ '2026-11-20/000000.part': 'a\n' });
  test.now = from + 61_000;
  await test.log.tick();
  expect(test.files).toEqual({ '2026-11-20/000000': 'a\n' });
  await test.log.append('b');
  test.now = Date.UTC(2026, 10, 21);
  await test.log.append('c');
  await test.log.close();
  expect(test.files).toEqual({ '2026-11-20/000000': 'a\n', '2026-11-20/000001': 'b\n', '2026-11-21/000002': 'c\n' });
  await expect(test.log.append('d')).rejects.toThrow(NotRecordedError);
});

it('a file is handed over when it has 64 MiB', async () => {
  await using test = new LogUnderTest();
  const large = 'x'.repeat(33 * 1024 * 1024);
  for (let n = 0; n < 3; n++) await test.log.append(large);
  await test.log.close();
  expect(Object.entries(test.files).map(([name, text]) => [name, text.length])).toEqual([
    ['2026-11-20/000000', 2 * (large.length + 1)],
    ['2026-11-20/000001', large.length + 1],
  ]);
});

it('where the disk is full, the rows are refused and nothing of them stays', async () => {
  await using test = new LogUnderTest();
  await test.log.append('good');
  let taken = 0;
  test.faults.takes = () => {
    if (taken++ > 0) throw noRoom();
    return 3;
  };
  const refused = await Promise.allSettled([test.log.append('lost one'), test.log.append('lost two')]);
  expect(refused.map((each) => each.status === 'rejected' && each.reason instanceof NotRecordedError)).toEqual([
    true,
    true,
  ]);
  expect(Object.values(test.files)).toEqual(['good\n']);
  // What was cut must not come back after a loss of power.
  expect(test.steps.slice(-2)).toEqual(['cut', 'synced after a cut']);
  delete test.faults.takes;
  await test.log.append('good again');
  expect(Object.values(test.files)).toEqual(['good\ngood again\n']);
  expect(test.broken).toBe(0);
});

it('a short write goes on where it stopped', async () => {
  await using test = new LogUnderTest({ takes: (bytes) => Math.ceil(bytes / 2) });
  await test.log.append('a row of some length');
  expect(Object.values(test.files)).toEqual(['a row of some length\n']);
});

it('where no file can be made the rows are refused, and the next are tried anew', async () => {
  await using test = new LogUnderTest();
  test.faults.before = (step) => {
    if (step === 'folder of a new one synced') throw noRoom();
  };
  await expect(test.log.append('a')).rejects.toThrow(NotRecordedError);
  expect(test.files).toEqual({});
  delete test.faults.before;
  test.synced.splice(0);
  await test.log.append('b');
  expect(Object.values(test.files)).toEqual(['b\n']);
  // The first try may have left them without their names on the disk.
  const day = '/landing/clicks/tracker/2026-11-20';
  expect(test.synced).toEqual([day, '/landing/clicks/tracker', '/landing/clicks', '/landing', '']);
});

it.each(['appended', 'cut', 'synced after a cut'])(
  'a disk that fails at "%s" ends the process, and nobody is answered',
  async (fails) => {
    await using test = new LogUnderTest();
    await test.log.append('good');
    if (fails !== 'appended')
      test.faults.takes = () => {
        throw noRoom();
      };
    test.faults.before = (step) => {
      if (step === fails) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    };
    let answered = false;
    void test.log.append('lost').finally(() => (answered = true));
    while (test.broken === 0) await setImmediate();
    await setImmediate();
    expect(answered).toBe(false);
    expect(test.logged.at(-1)).toContain('write failed after data was handed to the disk');
    await expect(test.log.append('more')).rejects.toThrow('the disk failed');
  },
);

it('a disk that fails to keep a file as it is handed over ends the process', async () => {
  await using test = new LogUnderTest({}, 'process');
  await test.log.append('good');
  test.faults.before = (step) => {
    if (step === 'synced') throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  };
  await test.log.close();
  expect([test.broken, test.files]).toEqual([1, { '2026-11-20/000000.part': 'good\n' }]);
});

it.each(['folder of a new one synced', 'folder synced'])(
  'a disk that fails at "%s" ends the process',
  async (fails) => {
    await using test = new LogUnderTest();
    test.faults.before = (step) => {
      if (step === fails) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    };
    const first = test.log.append('a');
    void first.catch(() => {});
    await setImmediate();
    while (test.broken === 0) {
      test.now += 60_000;
      await test.log.tick();
      await setImmediate();
    }
    await expect(test.log.append('more')).rejects.toThrow('the disk failed');
  },
);

it('behind a disk that does not answer for two seconds nobody waits, and memory stays bounded', async () => {
  const held = Promise.withResolvers<void>();
  await using test = new LogUnderTest({ before: (step) => (step === 'appended' ? held.promise : undefined) });
  const first = test.log.append('under way');
  while (!test.steps.includes('appended')) await setImmediate();
  const waiting = Promise.allSettled(Array.from({ length: 10_000 }, (_, n) => test.log.append(`${n}`)));
  await expect(test.log.append('one too many')).rejects.toThrow('too many rows wait');
  test.now += 2001;
  await test.log.tick();
  // The one under way may yet be stored.
  expect(test.log.waiting).toBe(1);
  for (const each of await waiting) expect(each.status).toBe('rejected');
  await expect(test.log.append('later')).rejects.toThrow('does not answer');
  held.resolve();
  await first;
  await test.log.append('after');
  expect(Object.values(test.files)).toEqual(['under way\nafter\n']);
});

it('with less than 256 MiB free nothing is begun, until there is more', async () => {
  let free = 256 * 1024 * 1024 - 1;
  await using test = new LogUnderTest({ freeBytes: () => free });
  await test.log.tick();
  await expect(test.log.append('a')).rejects.toThrow('nearly full');
  expect(test.steps).toEqual([]);
  free++;
  test.now += 1000;
  await test.log.tick();
  await test.log.append('b');
  expect(Object.values(test.files)).toEqual(['b\n']);
});

it('in mode "process" rows are answered for when written, and forced to the disk within a second', async () => {
  await using test = new LogUnderTest({}, 'process');
  await test.log.append('a');
  expect(test.steps).not.toContain('synced');
  expect(test.forced).toEqual([false]);
  test.now += 1000;
  await test.log.tick();
  expect(count(test.steps, 'synced')).toBe(1);
  await test.log.append('b');
  test.now += 60_000;
  await test.log.tick();
  expect(test.files).toEqual({ '2026-11-20/000000': 'a\nb\n' });
  expect(test.steps.lastIndexOf('synced')).toBeLessThan(test.steps.indexOf('renamed'));
});

it('in mode "process" a disk that fails to keep what it took ends the process', async () => {
  await using test = new LogUnderTest({}, 'process');
  await test.log.append('a');
  test.faults.before = (step) => {
    if (step === 'synced') throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  };
  test.now += 1000;
  await expect(test.log.tick()).rejects.toThrow('EIO');
  expect(test.broken).toBe(1);
});

it('a file that cannot be renamed is renamed later', async () => {
  await using test = new LogUnderTest();
  await test.log.append('a');
  test.faults.before = (step) => {
    if (step === 'renamed') throw noRoom();
  };
  test.now += 60_000;
  await test.log.tick();
  expect(test.files).toEqual({ '2026-11-20/000000.part': 'a\n' });
  delete test.faults.before;
  test.now += 1000;
  await test.log.tick();
  expect(test.files).toEqual({ '2026-11-20/000000': 'a\n' });
});
