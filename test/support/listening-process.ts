import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { launcher } from './command-line.ts';
import { peakMemory } from './peak-memory.ts';

/** A command that listens, as a process of its own. */
export interface ListeningProcess {
  child: ChildProcess;
  /** Such as `http://127.0.0.1:40123`. */
  address: string;
  /** Its log so far. */
  log: () => string;
  /** The most resident memory that it ever had. Linux. */
  peakMegabytes: () => number;
  end: (signal: NodeJS.Signals) => Promise<void>;
}

/** Starts a command such as `serve` on a free port; resolves once it says where it listens. */
export async function startListening(dataFolder: string, command: string): Promise<ListeningProcess> {
  const child = spawn(launcher.executable, [...launcher.words, command, '--port', '0', '--json'], {
    env: { ...process.env, OFFERLINE_DATA: dataFolder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  let printed = '';
  for await (const text of child.stdout.setEncoding('utf8')) if ((printed += text as string).includes('}')) break;
  return {
    child,
    address: (JSON.parse(printed) as { address: string }).address,
    log: () => log,
    peakMegabytes: () => Math.round(peakMemory(child.pid) / 2 ** 20),
    async end(signal) {
      const exit = once(child, 'exit');
      if (child.kill(signal)) await exit;
    },
  };
}
