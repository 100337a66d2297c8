/** The process that loads a server: takes plans as messages, one at a time, and answers each with what it saw. */
import { setTimeout } from 'node:timers/promises';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import type { Load, LoadPlan } from './load.ts';

let stop = new AbortController();
process.on('message', (message: LoadPlan | 'stop') => {
  if (message === 'stop') stop.abort();
  else void load(message).then((seen) => process.send?.(seen));
});
process.channel?.ref();

async function load({
  address,
  paths,
  connections,
  requests = Infinity,
  seconds = Infinity,
  ratePerSecond,
}: LoadPlan): Promise<Load> {
  stop = new AbortController();
  const { signal } = stop;
  const latencies: number[] = [];
  let [begun, failed, bodyBytes] = [0, 0, 0];
  const start = performance.now();
  const end = start + seconds * 1000;

  const visit = async () => {
    let connection = await KeepAliveConnection.open(address);
    while (!signal.aborted && begun < requests && performance.now() < end) {
      const index = begun++;
      let due = performance.now();
      if (ratePerSecond !== undefined) {
        const planned = start + (index * 1000) / ratePerSecond;
        if (planned > due) await setTimeout(Math.ceil(planned - due));
        // A request that had to wait for earlier answers is late by their fault; one that a timer woke late is not.
        due = planned > due ? performance.now() : planned;
      }
      const received = await connection.get(paths[index % paths.length] as string);
      latencies.push(performance.now() - due);
      bodyBytes += received.bodyBytes;
      if (received.status !== 200) failed++;
      if (!connection.isOpen) connection = await KeepAliveConnection.open(address);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, visit));

  const sorted = Float64Array.from(latencies).toSorted();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    requests: sorted.length,
    failed,
    bodyBytes,
    seconds: (performance.now() - start) / 1000,
    p50: at(0.5),
    p99: at(0.99),
  };
}
