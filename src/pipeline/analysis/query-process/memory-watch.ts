import { workerData } from 'node:worker_threads';

/*
 * The thread that kills a process of queries as soon as it has more memory than it may: the main thread may be busy
 * with the values of a chunk.
 */
const maxMemory = workerData as number;
const checkMilliseconds = 10;

setInterval(() => {
  if (process.memoryUsage.rss() > maxMemory) process.kill(process.pid, 'SIGKILL');
}, checkMilliseconds);
