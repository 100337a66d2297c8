import { expect, it } from 'vitest';
import { createLogger } from '../../src/kit/logging/log.ts';
import { TrackerStandby } from '../../src/cli/tracker-standby.ts';

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

function standbyUnderTest(wait: () => Promise<unknown> = () => Promise.resolve()) {
  const stop = new AbortController();
  const test = { stop, address: '', logged: '', standby: undefined as unknown as TrackerStandby };
  test.standby = new TrackerStandby(
    {
      listen: async (server) => (test.address = await server.listen({ host: '127.0.0.1', port: 0 })),
      logger: createLogger({ write: (line) => (test.logged += line) }),
      stopped: stop.signal,
    },
    wait,
  );
  return test;
}

it('a tracker that the disk refuses answers 503 with the reason until the disk takes it', async () => {
  const answers: unknown[] = [];
  const test = standbyUnderTest(async () => {
    for (let polls = 0; test.address === '' && polls < 1000; polls++) await new Promise(setImmediate);
    const answer = await fetch(`${test.address}/redirect/manual-offer/1/user/u/site/s`);
    answers.push([answer.status, ((await answer.json()) as { reason: string }).reason]);
  });
  let tries = 0;
  const begun = await test.standby.whenDiskTakes(async () => {
    if (++tries < 3) throw full;
    return 'tracks';
  });
  await test.standby.close();
  expect([begun, tries]).toEqual(['tracks', 3]);
  expect(answers).toEqual([
    [503, 'the disk takes nothing'],
    [503, 'the disk takes nothing'],
  ]);
  expect(test.logged.match(/ENOSPC/g)).toHaveLength(1);
  // The port is the tracker's, which others know.
  expect(test.standby.address).toBe(test.address);
  await expect(fetch(test.address)).rejects.toThrow('fetch failed');
});

it('a tracker does not wait for the disk after any other error, and ends while it waits', async () => {
  const test = standbyUnderTest();
  await expect(test.standby.whenDiskTakes(() => Promise.reject(new Error('the keys are broken')))).rejects.toThrow(
    'the keys are broken',
  );
  expect(test.address).toBe('');
  const stopped = standbyUnderTest(() => {
    stopped.stop.abort(new Error('asked to end'));
    return Promise.reject(stopped.standby.signal.reason as Error);
  });
  await expect(stopped.standby.whenDiskTakes(() => Promise.reject(full))).rejects.toThrow('asked to end');
  await stopped.standby.close();
});
