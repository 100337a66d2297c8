import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createSender } from '../../../src/postbacks/http/sender.ts';
import type { SenderOptions } from '../../../src/postbacks/http/sender.ts';
import { selfSigned, startHostileReceiver } from '../../support/hostile-receiver.ts';
import type { HostileReceiver } from '../../support/hostile-receiver.ts';

let receiver: HostileReceiver;
beforeAll(async () => {
  receiver = await startHostileReceiver();
});
afterAll(() => receiver.close());

const loopback = { address: '127.0.0.1', family: 4 };
const deadlineMilliseconds = 250;
/** Delay that a busy machine may add to a deadline. */
const patience = 600;

function senderForTest(options: Partial<SenderOptions> = {}) {
  const sender = createSender({ allowPrivate: true, deadlineMilliseconds, ...options });
  onTestFinished(() => sender.close());
  return {
    sender,
    send: (url: string, body?: string) =>
      sender.send({
        method: body === undefined ? 'GET' : 'POST',
        url,
        headers: { 'webhook-id': 'wh_1' },
        ...(body === undefined ? {} : { body }),
      }),
  };
}

/** A receiver in this process, called with every request and the number of earlier ones on the same connection. */
async function scriptedReceiver(receive: (socket: Socket, request: string, onThisConnection: number) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    let count = 0;
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (data) => receive(socket, data.toString(), count++));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/cb`,
    connections: () => connections,
    open: () => sockets.size,
  };
}

it('nothing goes out after its deadline, not even where the process was stopped and hears of the connection first', async () => {
  const requests: string[] = [];
  const { url } = await scriptedReceiver((socket, request) => {
    requests.push(request.split(' ')[1] as string);
    socket.end('HTTP/1.1 204 No Content\r\n\r\n');
  });
  const { send } = senderForTest({ lookup: (_hostname, _options, callback) => callback(null, [loopback]) });
  const { promise: begun, resolve } = Promise.withResolvers<ReturnType<typeof send>[]>();
  // Of a timer Node ends all ticks, then looks at the network, then at other timers: the ticks begin the connections,
  // and the last one stops the process until the deadline is over.
  const beginAndStop = async () => {
    resolve([url, url.replace('127.0.0.1', 'receiver.test')].map((to) => send(to)));
    for (let tick = 0; tick < 100; tick += 1) await new Promise((next) => process.nextTick(next));
    const until = performance.now() + deadlineMilliseconds + 50;
    while (performance.now() < until);
  };
  setTimeout(() => void beginAndStop());
  for (const outcome of await Promise.all(await begun)) expect(outcome).toMatchObject({ error: 'timeout' });
  expect(await send(`${url}/later`)).toMatchObject({ status: 204 });
  expect(requests).toEqual(['/cb/later']);
});

describe('an answer', () => {
  it.each([
    ['ok', 200, null, null],
    ['empty', 204, null, null],
    ['hint', 200, null, null],
    ['reset', 200, null, null],
    ['reset-whole', 200, null, null],
    ['bad-chunks', 200, null, null],
    ['endless', 200, null, null],
    ['endless-failure', 500, 'http_status', null],
    ['redirect', 302, 'redirect', null],
    ['redirect-here', 307, 'redirect', null],
    ['gone', 410, 'gone', null],
    ['missing', 404, 'http_status', null],
    ['later', 429, 'http_status', 86_400],
    ['later-by-date', 503, 'http_status', 86_400],
    ['silent', null, 'connection', null],
    ['switch', null, 'connection', null],
    ['foreign', null, 'bad_answer', null],
    ['endless-head', null, 'bad_answer', null],
  ])(
    'of kind %s is status %s, error %s, to be tried again after %s s',
    async (behaviour, status, error, retryAfter) => {
      const { send } = senderForTest({ deadlineMilliseconds: 10_000 });
      const outcome = await send(receiver.url(behaviour));
      expect(outcome).toEqual({
        status,
        error,
        retryAfterSeconds: retryAfter,
        durationMilliseconds: expect.any(Number),
        host: new URL(receiver.url('')).host,
      });
      expect(outcome.durationMilliseconds).toBeLessThan(5000);
    },
  );

  it.each([
    ['hang', null, 'timeout'],
    ['hint-hang', null, 'timeout'],
    ['drip-head', null, 'timeout'],
    ['drip', 200, null],
    ['drip-failure', 503, 'http_status'],
  ])('of kind %s is broken off at the deadline with status %s, error %s', async (behaviour, status, error) => {
    const { send } = senderForTest();
    const outcome = await send(receiver.url(behaviour));
    expect(outcome).toMatchObject({ status, error });
    expect(outcome.durationMilliseconds).toBeGreaterThan(deadlineMilliseconds - 5);
    expect(outcome.durationMilliseconds).toBeLessThan(deadlineMilliseconds + patience);
  });

  const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';
  it.each([
    ['early hints', hints + ok, 200],
    ['several', `${hints}HTTP/1.1 102 P\r\n\r\n${hints}${ok}`, 200],
    ['an unasked 100', goOn + ok, 200],
    ['early hints and an unasked 100', `${hints}${goOn}${ok}`, 200],
    ['early hints and a refusal', `${hints}HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n`, 410],
  ])('may come after %s, in one piece or in many, and leaves the connection in use', async (_name, answer, status) => {
    for (const size of [answer.length, 11, 1]) {
      const { url, connections } = await scriptedReceiver((socket) => writeInPieces(socket, answer, size));
      const { send } = senderForTest({ deadlineMilliseconds: 10_000 });
      for (const body of [undefined, '{}', '{}', undefined, '{}'])
        expect(await send(url, body)).toMatchObject({ status });
      // A request right after an answer gets a second one.
      expect(connections()).toBeLessThan(3);
    }
  });

  it.each([
    ['is all that comes', goOn, 'timeout'],
    ['ends it', goOn, 'connection'],
  ])(
    'is none where an unasked 100 %s; the request is sent once, on a used connection, too',
    async (name, bad, error) => {
      for (const size of [bad.length, 11, 1]) {
        const requests: string[] = [];
        const { url } = await scriptedReceiver((socket, request) => {
          requests.push(request);
          const isBad = request.includes('/bad');
          writeInPieces(socket, isBad ? bad : ok, size, isBad && name === 'ends it');
        });
        const { send } = senderForTest();
        for (const body of [undefined, '{}']) {
          expect(await send(url)).toMatchObject({ status: 200 });
          expect(await send(`${url}/bad`, body)).toMatchObject({ status: null, error });
        }
        expect(requests).toHaveLength(4);
      }
    },
  );

  function writeInPieces(socket: Socket, answer: string, size: number, isEnd = false): void {
    const writeFrom = (at: number) => {
      socket.write(answer.slice(at, at + size));
      if (at + size < answer.length) setImmediate(writeFrom, at + size);
      else if (isEnd) socket.end();
    };
    writeFrom(0);
  }

  it('may come long after early hints, but not after the deadline', async () => {
    const { url } = await scriptedReceiver((socket, request) => {
      socket.write(hints);
      if (request.includes('/slow')) setTimeout(() => socket.write(hints + ok), deadlineMilliseconds / 3);
    });
    const { send } = senderForTest();
    expect(await send(`${url}/slow`)).toMatchObject({ status: 200, error: null });
    const outcome = await send(`${url}/never`);
    expect(outcome).toMatchObject({ status: null, error: 'timeout' });
    expect(outcome.durationMilliseconds).toBeLessThan(deadlineMilliseconds + patience);
  });

  it.each([
    ['100', goOn],
    ['103', hints],
  ])('is no answer where %s comes without end', async (_name, head) => {
    let written = 0;
    const { url } = await scriptedReceiver((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(head.repeat(1000))) written += head.length * 1000;
      };
      socket.on('drain', more);
      more();
    });
    expect(await senderForTest({ deadlineMilliseconds: 10_000 }).send(url)).toMatchObject({
      status: null,
      error: 'bad_answer',
    });
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  it('that ends with a 100 is none', async () => {
    const { url, connections } = await scriptedReceiver((socket) => void socket.end(goOn));
    expect(await senderForTest().send(url)).toMatchObject({ status: null, error: 'connection' });
    expect(connections()).toBe(1);
  });

  it('that is broken off leaves no connection open', async () => {
    const { url, open } = await scriptedReceiver(() => undefined);
    expect(await senderForTest({ deadlineMilliseconds: 100 }).send(url)).toMatchObject({ error: 'timeout' });
    await expect.poll(open).toBe(0);
  });

  it('is followed nowhere', async () => {
    const { send } = senderForTest();
    const before = (await receiver.seen())['ok']?.requests ?? 0;
    await send(receiver.url('redirect-here'));
    expect((await receiver.seen())['ok']?.requests ?? 0).toBe(before);
  });

  it('without end costs neither memory nor traffic, however many come at once', async () => {
    const { send } = senderForTest({ deadlineMilliseconds: 10_000 });
    const before = (await receiver.seen())['endless']?.bytes ?? 0;
    const memory = process.memoryUsage.rss();
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => send(receiver.url('endless'))));
    expect(outcomes.every(({ error }) => error === null)).toBe(true);
    // Buffers of the system take a few MB each.
    expect(((await receiver.seen())['endless']?.bytes ?? 0) - before).toBeLessThan(100 * 8 * 1024 * 1024);
    expect(process.memoryUsage.rss() - memory).toBeLessThan(150 * 1024 * 1024);
  });
});

describe('a connection', () => {
  it('to a certificate that nobody vouches for is refused, and made where somebody does', async () => {
    expect(await senderForTest().send(receiver.url('ok', 'https', 'localhost'))).toMatchObject({
      status: null,
      error: 'tls',
    });
    const trusted = getCACertificates('default');
    onTestFinished(() => setDefaultCACertificates(trusted));
    setDefaultCACertificates([...trusted, selfSigned]);
    expect(await senderForTest().send(receiver.url('ok', 'https', 'localhost'))).toMatchObject({
      status: 200,
      error: null,
    });
    // The certificate is good, but for another host.
    expect(await senderForTest().send(receiver.url('ok', 'https'))).toMatchObject({ status: null, error: 'tls' });
  });

  it('that is not TLS at all fails as such', async () => {
    const { url } = await scriptedReceiver(
      (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await senderForTest().send(url.replace('http:', 'https:'))).toMatchObject({ status: null, error: 'tls' });
  });

  it('whose handshake hangs is broken off at the deadline', async () => {
    const outcome = await senderForTest().send(receiver.url('ok', 'mute'));
    expect(outcome).toMatchObject({ status: null, error: 'timeout' });
    expect(outcome.durationMilliseconds).toBeLessThan(deadlineMilliseconds + patience);
  });

  it('to a port where nobody listens fails', async () => {
    expect(await senderForTest().send('http://127.0.0.1:1/')).toMatchObject({
      status: null,
      error: 'connection',
      host: '127.0.0.1:1',
    });
  });

  it('waits for a slow name until the deadline, looks it up once for all, and delays no other', async () => {
    const looked: string[] = [];
    const { send } = senderForTest({
      lookup: (hostname, _options, callback) => {
        looked.push(hostname);
        if (hostname === 'quick.example') callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    const slow = Array.from({ length: 5 }, () => send('http://slow.example/cb'));
    const quick = await send(receiver.url('ok', 'http', 'quick.example'));
    expect(quick).toMatchObject({ status: 200, error: null });
    for (const outcome of await Promise.all(slow)) {
      expect(outcome).toMatchObject({ status: null, error: 'timeout', host: 'slow.example' });
      expect(outcome.durationMilliseconds).toBeLessThan(deadlineMilliseconds + patience);
    }
    expect(looked.toSorted()).toEqual(['quick.example', 'slow.example']);
  });

  it('whose name is known too late sends nothing any more', async () => {
    const requests: string[] = [];
    const receiving = await scriptedReceiver((socket, request) => {
      requests.push(request.split(' ')[1] ?? '');
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    const url = receiving.url.replace('127.0.0.1', 'slow.example');
    const waiting: (() => void)[] = [];
    const { send } = senderForTest({
      lookup: (_hostname, _options, callback) => {
        const answer = () => callback(null, [{ address: '127.0.0.1', family: 4 }]);
        if (waiting.push(answer) > 1) answer();
      },
    });
    expect(await send(`${url}/late`)).toMatchObject({ error: 'timeout' });
    waiting[0]?.();
    await expect.poll(() => receiving.connections()).toBe(1);
    // Long enough for what had been waiting to arrive before these.
    for (const path of ['/first', '/second']) expect(await send(`${url}${path}`)).toMatchObject({ error: null });
    expect(requests).toEqual(['/cb/first', '/cb/second']);
  });

  it('to a name that does not exist fails', async () => {
    const missing = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    for (const error of [missing, null]) {
      const { send } = senderForTest({ lookup: (_hostname, _options, callback) => callback(error, []) });
      expect(await send('http://nowhere.example/')).toMatchObject({ status: null, error: 'dns' });
    }
  });

  it('is used again', async () => {
    const counts: number[] = [];
    const { url } = await scriptedReceiver((socket, _request, onThisConnection) => {
      counts.push(onThisConnection);
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    const { send } = senderForTest();
    for (let index = 0; index < 10; index += 1) await send(url);
    expect(Math.max(...counts)).toBeGreaterThan(2);
  });

  it.each(['GET', 'POST'])(
    'that was kept and is closed as the next request comes is no failure, by %s',
    async (method) => {
      const requests: string[] = [];
      const { url } = await scriptedReceiver((socket, request, onThisConnection) => {
        requests.push(request);
        if (onThisConnection === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
        else socket.resetAndDestroy();
      });
      const { send } = senderForTest();
      const outcomes = [];
      for (let index = 0; index < 12; index += 1)
        outcomes.push(await send(url, method === 'POST' ? '{"a":1}' : undefined));
      expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 200));
      // Some were sent again, as the same request.
      expect(requests.length).toBeGreaterThan(outcomes.length);
      expect(new Set(requests.map((request) => request.replace(/connection: [\w-]+\r\n/i, ''))).size).toBe(1);
    },
  );

  it('that breaks at its first request has failed, and is tried once', async () => {
    let count = 0;
    const { url } = await scriptedReceiver((socket) => {
      count += 1;
      socket.resetAndDestroy();
    });
    expect(await senderForTest().send(url)).toMatchObject({ status: null, error: 'connection' });
    expect(count).toBe(1);
  });
});

describe('closing', () => {
  it('waits for what is under way, and leaves no connection open', async () => {
    const { url, open } = await scriptedReceiver((socket) => {
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), 50);
    });
    const { sender, send } = senderForTest();
    const [outcome] = await Promise.all([send(url), sender.close()]);
    expect(outcome).toMatchObject({ status: 200, error: null });
    await expect.poll(open).toBe(0);
    expect(await send(url)).toMatchObject({ status: null, error: 'unsendable' });
  });

  it('is not held up by a receiver that hangs', async () => {
    const { sender, send } = senderForTest();
    const startedAt = performance.now();
    const [outcome] = await Promise.all([send(receiver.url('hang')), sender.close()]);
    expect(outcome).toMatchObject({ error: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(deadlineMilliseconds + patience);
  });
});
