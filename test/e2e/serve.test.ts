import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { launcher, offerline } from '../support/command-line.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../support/published-snapshot.ts';
import { slow } from '../support/slow.ts';

let data: DataDirectory;

beforeEach(async () => {
  const temporary = await temporaryData();
  onTestFinished(temporary.remove);
  data = temporary.data;
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret' }]);
  await writeSnapshot(data, 'one', { offers: [feedOffer({ id: 1 })] });
  await makeCurrent(data, 'one');
  await configure({});
});

/** Nothing is scheduled: here a service shall start and end, and nothing else. */
function configure(settings: object): Promise<void> {
  return writeFile(
    data.settingsFile,
    JSON.stringify({ schedule: { refresh: null, postbacks: null, maintenance: null }, ...settings }),
  );
}

/** A command under way: what it has told so far, and how it ends. */
interface Running {
  pid: number | undefined;
  /** Returns when it has told this, on standard output or error. */
  told(text: string): Promise<void>;
  /** All that it told. */
  output(): string;
  end(signal: NodeJS.Signals): Promise<unknown>;
}

function started(...words: string[]): Running {
  const child = spawn(launcher.executable, [...launcher.words, ...words], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    if (child.kill('SIGKILL')) await exit;
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    pid: child.pid,
    output: () => output,
    async told(text) {
      while (!output.includes(text)) {
        // Where one of them speaks, nobody waits for the other any more.
        const heard = new AbortController();
        const { signal } = heard;
        await Promise.race([
          once(child.stdout, 'data', { signal }),
          once(child.stderr, 'data', { signal }),
          exit.then(() => Promise.reject(new Error(`it ended: ${output}`))),
        ]).finally(() => heard.abort());
      }
    },
    async end(signal) {
      child.kill(signal);
      return (await exit)[0];
    },
  };
}

it.each([
  ['start', 'serve'],
  ['serve', 'start'],
])('beside `%s` a `%s` refuses to start; the first ends at SIGHUP as at SIGTERM', slow, async (first, second) => {
  const serving = started(first, '--port', '0');
  await serving.told('Ctrl-C stops.');
  await configure({ lock_wait_seconds: 0 });
  for (const more of second === 'serve' ? [[], ['--snapshot', 'one']] : [[]]) {
    const { code, stdout, stderr } = await offerline(data.root, second, '--port', '0', ...more);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`The HTTP service is busy: \\"${first}\\" (process ${serving.pid}, since `);
    expect(stderr).toContain('One service works on a data directory');
  }
  expect(await serving.end('SIGHUP')).toBe(0);
  expect(serving.output()).toContain('stopping: answers and the run under way are finished first');
});

it('one that is started while another still ends waits for it, and one after a kill starts at once', slow, async () => {
  const first = started('start', '--port', '0');
  await first.told('Ctrl-C stops.');
  const second = started('start', '--port', '0');
  await second.told(`for the HTTP service: \\"start\\" (process ${first.pid}, since `);
  expect(await first.end('SIGTERM')).toBe(0);
  await second.told('Ctrl-C stops.');
  await second.end('SIGKILL');
  await configure({ lock_wait_seconds: 0 });
  const third = started('serve', '--port', '0');
  await third.told('Ctrl-C stops.');
  expect(await third.end('SIGTERM')).toBe(0);
});

it('links lead to where a tracker listens, after a move with the next snapshot', slow, async () => {
  const says = (port: number) =>
    writeFile(data.trackerAddressFile, JSON.stringify({ address: `http://127.0.0.1:${port}` }));
  await mkdir(data.tracker);
  await says(9000);
  const serving = started('serve', '--port', '0');
  await serving.told('Ctrl-C stops.');
  const address = /http:\S+/.exec(serving.output())?.[0] ?? '';
  const linked = async () => {
    const answer = await fetch(`${address}/c/api/v1/offers?site_key=s&site_secret=a-long-enough-secret`);
    const { offers } = (await answer.json()) as { offers: { tracking_url: string }[] };
    return [answer.headers.get('x-snapshot-id'), new URL(offers[0]?.tracking_url ?? '').port];
  };
  expect(await linked()).toEqual(['one', '9000']);
  await says(9001);
  expect(await linked()).toEqual(['one', '9000']);
  await writeSnapshot(data, 'two', { offers: [feedOffer({ id: 1 })] });
  await makeCurrent(data, 'two');
  await vi.waitUntil(async () => (await linked())[0] === 'two', { timeout: 10_000, interval: 300 });
  expect(await linked()).toEqual(['two', '9001']);
  expect(await serving.end('SIGTERM')).toBe(0);
});

it('a service that cannot begin ends the schedule that it began, and exits', slow, async () => {
  const nextYear = { refresh: { cron: '0 0 1 1 *' }, postbacks: null, maintenance: null };
  await configure({ schedule: nextYear, limits: { redis: { env: 'OFFERLINE_TEST_UNSET' }, servers: 2 } });
  const { code, stdout, stderr } = await offerline(data.root, 'start', '--port', '0');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('OFFERLINE_TEST_UNSET');
});

it('a service that cannot begin ends the following of storage that it began, and exits', slow, async () => {
  // Nobody listens there.
  const storage = { url: 's3://bucket/ours', endpoint: 'http://127.0.0.1:1', follow: true };
  const keys = { access_key_id: 'an-id', secret_access_key: 'a-secret-of-storage' };
  await configure({ storage: { ...storage, ...keys } });
  await writeFile(data.sitesFile, '{"sites": [');
  const { code, stdout, stderr } = await offerline(data.root, 'serve', '--port', '0');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('sites.json');
});
