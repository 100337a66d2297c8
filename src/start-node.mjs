/**
 * Starts a program in another Node, for the launcher of a checkout and for `offerline` of an installed package. Plain
 * JavaScript for any Node from 20 on.
 */
import { spawn } from 'node:child_process';
import os from 'node:os';

/** Oldest Node that can start the pinned one. */
export const oldestNode = 20;
/** Major version of Node that the programs need. */
export const neededNode = 24;

const platform = `${os.platform()}-${os.arch()}`;
/** Name of the optional package that has the pinned Node for this platform; `bin/node` is in it. */
export const nodePackageName = platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`;

/**
 * Runs a program to its end, passes signals on and ends as it does. `words`: options of Node, the program and its
 * arguments; `environment` is added to our own; `cure`: what to do where the Node cannot be started.
 */
export function startNode(nodeBinary, words, environment, cure) {
  const child = spawn(nodeBinary, words, {
    stdio: 'inherit',
    env: {
      ...process.env,
      // A DuckDB query occupies one of libuv's threads until it ends; four would leave none for files and hashes.
      UV_THREADPOOL_SIZE:
        process.env.UV_THREADPOOL_SIZE ?? String(Math.min(64, Math.max(8, 2 * os.availableParallelism()))),
      ...environment,
    },
  });
  // On a terminal Ctrl-C reaches the program by itself; twice would mean "at once" to it.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  child.on('error', (error) => {
    console.error(`${nodeBinary} cannot be started: ${error.message}; ${cure}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
