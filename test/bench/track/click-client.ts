/** The process that clicks: takes plans as messages, one at a time, and answers each with what it saw. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { browsers } from './browsers.ts';
import type { ClickLoad, ClickPlan } from './click-load.ts';

process.on('message', (message: ClickPlan) => {
  void load(message).then((seen) => process.send?.(seen));
});
process.channel?.ref();

/** Bytes; an answer has no body and fits in one piece. */
const answerBytes = 16 * 1024;
/** Of the histogram of latencies. Milliseconds. */
const columnWidth = 0.01;
const columns = 500_000;

interface Visitor {
  socket: Socket;
  /** When the click was due that waits for its answer. */
  due: number;
  head: string;
}

let clicksEver = randomInt(2 ** 30);

async function load(plan: ClickPlan): Promise<ClickLoad> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const latencies = new Uint32Array(columns);
  let [clicks, failed, begun, open] = [0, 0, 0, plan.connections];
  const idle: Visitor[] = [];
  const interval = plan.ratePerSecond === undefined ? undefined : 1000 / plan.ratePerSecond;

  const click = (visitor: Visitor, due: number) => {
    visitor.due = due;
    begun++;
    visitor.socket.write(nextClick(plan), 'latin1');
  };
  const leave = ({ socket }: Visitor) => {
    socket.destroy();
    if (--open === 0) resolve();
  };
  const answered = (visitor: Visitor) => {
    const now = performance.now();
    const latency = now - visitor.due;
    clicks++;
    (latencies[Math.min(columns - 1, Math.floor(latency / columnWidth))] as number)++;
    if (visitor.head !== '302') failed++;
    if (now >= end || visitor.head !== '302') leave(visitor);
    else if (interval === undefined) click(visitor, now);
    else idle.push(visitor);
  };

  const visitors = await Promise.all(
    Array.from({ length: plan.connections }, async () => {
      const visitor = await connected(plan.address, answered);
      // One that broke while it waited for its answer; those that left are destroyed by us.
      visitor.socket.on('error', () => {
        failed++;
        leave(visitor);
      });
      return visitor;
    }),
  );
  const start = performance.now();
  const end = start + plan.seconds * 1000;
  if (interval === undefined) {
    for (const visitor of visitors) click(visitor, start);
  } else {
    idle.push(...visitors);
    // Turning all the time, since timers wake by the millisecond: the client has a processor of its own.
    const turn = () => {
      const now = performance.now();
      for (let due = start + begun * interval; due <= now && due < end; due = start + begun * interval) {
        const visitor = idle.pop();
        if (visitor === undefined) break;
        click(visitor, due);
      }
      if (now < end) setImmediate(turn);
      else for (const visitor of idle.splice(0)) leave(visitor);
    };
    turn();
  }
  await promise;
  const seconds = (performance.now() - start) / 1000;
  const at = (share: number) => {
    let seen = 0;
    const column = latencies.findIndex((count) => (seen += count) >= clicks * share);
    return (column + 1) * columnWidth;
  };
  return { clicks, failed, seconds, p50: at(0.5), p99: at(0.99) };
}

/** Reads no more of an answer than it has to: a client that is slower than the bare server would measure itself. */
async function connected(address: string, answered: (visitor: Visitor) => void): Promise<Visitor> {
  const { hostname, port } = new URL(address);
  const buffer = Buffer.alloc(answerBytes);
  let isWithin = false;
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: {
      buffer,
      callback(bytes) {
        if (!isWithin) visitor.head = buffer.toString('latin1', 9, 12);
        isWithin = !(bytes >= 4 && buffer[bytes - 4] === 13 && buffer[bytes - 1] === 10);
        if (!isWithin || visitor.head !== '302') answered(visitor);
        return true;
      },
    },
  });
  const visitor: Visitor = { socket, due: 0, head: '' };
  await once(socket, 'connect');
  return visitor;
}

/** The next click of all, by a user and an address that have never clicked before. */
function nextClick({ offers, sites }: ClickPlan): string {
  const number = ++clicksEver;
  // A step that no power of two divides leads through all addresses before one comes again.
  const address = Math.imul(number, 2_654_435_761);
  const offer = 1 + (number % offers);
  const user = 40_000_000_000 + number;
  const client = `${(address >>> 24) & 255}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
  return `GET /redirect/manual-offer/${offer}/user/${user}/site/site-${number % sites}?sub1=campaign-${number % 100} HTTP/1.1\r
Host: click.example\r
X-Forwarded-For: ${client}\r
${browsers[number % browsers.length] as string}\r
`;
}
